import { expect, test } from 'vitest'
import { Type } from '../../kernel/schema.ts'
import { input, line } from '../../kernel/wire.ts'
import { computeBodyBoundsOfSchema } from './body-bounds.ts'

const KIB = 1_024

test.each([
  ['a short text', input({ name: line(100) }), 4],
  ['texts of 500 characters, each of which may be escaped', input({ a: line(250), b: line(250) }), 8],
  ['a hundred ids', input({ ids: Type.Array(Type.String({ format: 'uuid' }), { maxItems: 100 }) }), 8],
  ['one of several shapes', input({ a: Type.Union([Type.Null(), line(1_000)]) }), 16],
  [
    'members that the client names',
    input({ a: Type.Record(Type.String(), line(10), { maxProperties: 20 }) }),
    32
  ],
  ['more than a mebibyte', input({ a: line(10_000_000) }), 1_024]
])('the size limit of a body of %s is the smallest that holds every valid body', (_what, schema, kib) => {
  expect(computeBodyBoundsOfSchema(schema).bytesMax).toBe(kib * KIB)
})

test.each([
  ['a text without a length', input({ a: Type.String() }), 'body/a needs maxLength'],
  [
    'a text without a length in a list',
    input({ a: Type.Array(Type.String(), { maxItems: 3 }) }),
    'body/a/0 needs maxLength'
  ],
  ['a list without a length', input({ a: Type.Array(Type.Integer()) }), 'body/a needs maxItems'],
  [
    'members that are not listed',
    Type.Object({ a: Type.Integer() }),
    'body needs additionalProperties: false, or x-bytes-max'
  ],
  [
    'any number of named members',
    input({ a: Type.Record(Type.String(), line(1)) }),
    'body/a needs maxProperties'
  ],
  [
    'a named member without a length',
    input({ a: Type.Record(Type.String(), Type.String(), { maxProperties: 2 }) }),
    'body/a/* needs maxLength'
  ],
  ['one of several shapes', input({ a: Type.Union([Type.Null(), Type.String()]) }), 'body/a needs maxLength'],
  ['a value of any type', input({ a: Type.Unsafe({}) }), 'body/a needs a type']
])(
  'the schema of a body with %s has no size limit, and the missing maximum is reported',
  (_what, schema, lack) => {
    expect(computeBodyBoundsOfSchema(schema).unbounded).toEqual([lack])
  }
)

test('a request body without a schema has the smallest size limit, and an open value the limit that it declares', () => {
  expect(computeBodyBoundsOfSchema(undefined)).toEqual({ bytesMax: 4 * KIB, valuesMax: 1_000, unbounded: [] })
  const open = Type.Unsafe({ type: 'object', 'x-bytes-max': 6_000 })
  expect(computeBodyBoundsOfSchema(input({ a: open }))).toEqual({
    bytesMax: 8 * KIB,
    valuesMax: 2 + 3_000 + 64,
    unbounded: []
  })
})

test('the size limit of a list is the one that it declares, and the number of its values follows from its items', () => {
  const items = Type.Array(input({ a: line(1_000) }), { maxItems: 100, 'x-bytes-max': 6_000 })
  expect(computeBodyBoundsOfSchema(input({ items }))).toEqual({
    bytesMax: 8 * KIB,
    valuesMax: 2 + 2 + 100 * 3 + 64,
    unbounded: []
  })
})

test('the maximum number of values in a request body follows from its schema', () => {
  const pair = input({ a: Type.Integer(), b: Type.Boolean() })
  const { valuesMax } = computeBodyBoundsOfSchema(
    input({ pairs: Type.Array(pair, { maxItems: 100 }), c: line(10) })
  )
  // The body, its list and each pair count twice.
  expect(valuesMax).toBe(2 + 2 + 100 * 4 + 1 + 64)
})
