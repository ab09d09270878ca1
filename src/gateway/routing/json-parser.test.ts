import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DomainError } from '../../kernel/errors.ts'
import { parseJson } from './json-parser.ts'

const VALUES_MAX = 1_000
const parse = (text: string | Buffer) => parseJson(Buffer.from(text), VALUES_MAX)

/** Returns why the text is rejected; `undefined` if it is accepted. */
function reasonFor(text: string | Buffer): unknown {
  try {
    parse(text)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'MALFORMED_JSON') return error.details.reason
    throw error
  }
  return undefined
}

const range = (count: number) => Array.from({ length: count }, (_, index) => [`k${index}`, index])
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const nestedObjects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

test.each([
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'it is not valid UTF-8'],
  ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'it is not valid UTF-8'],
  ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'it is not valid UTF-8'],
  ['UTF-8 cut short', Buffer.from([0x22, 0xe2, 0x82]), 'it is not valid UTF-8'],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), 'it is not valid JSON'],
  ['two byte order marks', '\ufeff\ufeff{"a":1}', 'it is not valid JSON'],
  ['white space alone', ' \n\t', 'it is not valid JSON'],
  ['rubbish behind', '{"a":1}x', 'it is not valid JSON'],
  ['two values', '{} {}', 'it is not valid JSON'],
  ['a trailing comma', '[1,]', 'it is not valid JSON'],
  ['a comment', '{"a":1/**/}', 'it is not valid JSON'],
  ['a bare NaN', '[NaN]', 'it is not valid JSON'],
  ['a leading zero', '[01]', 'it is not valid JSON'],
  ['a raw control character', '"a\u0001"', 'it is not valid JSON'],
  ['a raw NUL', '"a\0"', 'it is not valid JSON'],
  ['an escaped NUL', '["a\\u0000"]', 'a string contains NUL'],
  ['an escaped NUL in a key', '{"a\\u0000":1}', 'a string contains NUL'],
  ['a high surrogate alone', '{"a":"\\ud800"}', 'a string contains a lone surrogate'],
  ['a low surrogate alone', '{"a":"x\\udc00y"}', 'a string contains a lone surrogate'],
  ['surrogates in the wrong order', '"\\udc00\\ud800"', 'a string contains a lone surrogate'],
  ['a lone surrogate in a key', '{"\\ud800":1}', 'a string contains a lone surrogate'],
  ['33 levels of arrays', nested(33), 'it is nested deeper than 32 levels'],
  ['33 levels of objects', nestedObjects(33), 'it is nested deeper than 32 levels'],
  ['100,000 levels', nested(100_000), 'it is nested deeper than 32 levels'],
  ['100,000 levels left open', '['.repeat(100_000), 'it is nested deeper than 32 levels'],
  ['a list of too many numbers', `[${'1,'.repeat(1_000)}1]`, 'it has more than 1000 values'],
  ['a list of too many objects', `[${'{},'.repeat(500)}{}]`, 'it has more than 1000 values'],
  ['too many members', JSON.stringify(Object.fromEntries(range(1_000))), 'it has more than 1000 values'],
  ['too many values left open', '[1,'.repeat(30) + '1,'.repeat(1_000), 'it has more than 1000 values'],
  ['a string left open', '{"a":"b', 'it is not valid JSON'],
  ['a string left open behind a backslash', '{"a":"b\\', 'it is not valid JSON'],
  ['the same key twice', '{"a":1,"a":2}', 'an object has the same key twice'],
  ['the same key and value twice', '{"a":1,"a":1}', 'an object has the same key twice'],
  ['the same key twice, once escaped', '{"a":1,"\\u0061":2}', 'an object has the same key twice'],
  ['the same key twice, deep down', '[{"x":[{"b":1,"c":{},"b":{}}]}]', 'an object has the same key twice'],
  ['the same key twice with colons about', '{"a:":":","a:":"\\":"}', 'an object has the same key twice'],
  ['a shadowed object with keys', '{"a":{"x":1,"y":2},"a":1}', 'an object has the same key twice'],
  ['the same number-like key twice', '{"1":1,"1":2}', 'an object has the same key twice'],
  ['__proto__', '{"__proto__":{"isAdmin":true}}', 'the key __proto__ is not allowed'],
  ['__proto__ escaped', '{"\\u005f_proto_\\u005f":1}', 'the key __proto__ is not allowed'],
  ['__proto__ twice', '{"__proto__":1,"__proto__":1}', 'the key __proto__ is not allowed'],
  ['__proto__ deep down', '{"a":[{"__proto__":null}]}', 'the key __proto__ is not allowed'],
  ['a number beyond all numbers', '{"a":1e400}', 'a number is too large']
])('the JSON parser rejects %s with its reason', (_what, text, reason) => {
  expect(reasonFor(text)).toBe(reason)
})

test.each([
  ['{"a":{"b":[1,"2",null,true,false,-1.5e3]}}', { a: { b: [1, '2', null, true, false, -1500] } }],
  ['  \t\r\n{"a":1}  ', { a: 1 }],
  ['\ufeff{"a":"\ufeff"}', { a: '\ufeff' }],
  ['"text"', 'text'],
  ['0', 0],
  ['null', null],
  ['{}', {}],
  ['"\\ud83d\\ude00"', '😀'],
  ['{"constructor":1,"hasOwnProperty":2,"toString":3}', { constructor: 1, hasOwnProperty: 2, toString: 3 }],
  ['{"a":":","b":"\\":\\"","c\\":":"\\\\"}', { a: ':', b: '":"', 'c":': '\\' }],
  ['9007199254740993', 9007199254740992]
])('the JSON parser accepts %s', (text, value) => {
  expect(parse(text)).toEqual(value)
})

test('minus zero in JSON stays minus zero, which integer schemas accept as zero', () => {
  expect(parse('-0')).toBe(-0)
})

test('an empty text is parsed as no body', () => {
  expect(parse('')).toBeUndefined()
})

test('a JSON body with the maximum number of values is accepted', () => {
  expect(reasonFor(`[${'1,'.repeat(997)}1]`)).toBeUndefined()
  expect(reasonFor(`{"a":"${'[{,:\\"'.repeat(1_000)}"}`)).toBeUndefined()
})

test('a JSON body of 32 nested levels is accepted', () => {
  expect(reasonFor(nested(32))).toBeUndefined()
  expect(reasonFor(nestedObjects(32))).toBeUndefined()
})

const text = fc.string({ unit: 'binary' }).filter(value => value.isWellFormed() && !value.includes('\0'))
// No backslash in keys: JSON.parse of Node 26.10 returns the key `\` for `\"` after it has parsed a key `\`.
const key = fc
  .oneof(text, fc.constantFrom(':', '"', 'a":', 'a', ''))
  .filter(name => name !== '__proto__' && !name.includes('\\'))
const value = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 6 },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(key, tie('any'), { maxKeys: 4, noNullPrototype: true })
  )
})).any

test('the JSON parser parses the output of JSON.stringify like JSON.parse', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2, '\t'), (original, indent) => {
      const written = JSON.stringify(original, null, indent)
      expect(parse(written)).toEqual(JSON.parse(written))
    }),
    { numRuns: 1_000 }
  )
})

test('a repeated key in a JSON object is rejected at any depth', () => {
  fc.assert(
    fc.property(value, key, value, value, (around, name, first, second) => {
      const member = JSON.stringify(name)
      const repeated = `{${member}:${JSON.stringify(first)},${member}:${JSON.stringify(second)}}`
      expect(reasonFor(`[${JSON.stringify(around)},${repeated}]`)).toBe('an object has the same key twice')
    }),
    { numRuns: 300 }
  )
})
