import { expect, test } from 'vitest'
import { compileSchema } from './compile-schema.ts'
import { fieldFaults } from './faults.ts'
import { patternMessage, patternWithMessage } from './patterns.ts'
import { Type } from './schema.ts'
import { Amount, Id, input, line, nullable } from './wire.ts'

const faults = (schema: object, value: unknown) => fieldFaults('body', compileSchema(schema)(value))

test.each([
  [Type.String({ minLength: 12 }), 'short', 'must be at least 12 characters long'],
  [Type.String({ minLength: 1 }), '', 'must not be empty'],
  [Type.String({ maxLength: 1 }), 'ab', 'must be at most 1 character long'],
  [Type.String(), 5, 'must be text'],
  [line(10), 'two\nlines', 'must be one line, without control characters'],
  [Id, '7', 'must be an id, such as 0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e'],
  [Type.Integer({ minimum: 1 }), 0, 'must be a whole number of 1 or more'],
  [Type.Integer({ minimum: 1 }), 'one', 'must be a whole number of 1 or more'],
  [Type.Integer({ minimum: 1, maximum: 9 }), 1.5, 'must be a whole number from 1 to 9'],
  [Type.Integer(), null, 'must be a whole number'],
  [Type.Number({ maximum: 2 }), 3, 'must be a number of 2 or less'],
  [nullable(Amount), -1, 'must be a whole number from 0 to 100000000000'],
  [nullable(Type.String()), 5, 'must be text or null'],
  [nullable(Type.Enum(['a', 'b'])), 'c', 'must be one of: a, b'],
  [Type.Enum(Array.from({ length: 21 }, (_, index) => `${index}`)), 'x', 'is not one of the allowed values'],
  [Type.Literal('on'), 'off', 'must be on'],
  [Type.Boolean(), 1, 'must be true or false'],
  [Type.Array(Type.String(), { maxItems: 1 }), ['a', 'b'], 'must have at most 1 entry'],
  [Type.Array(Type.String(), { minItems: 2 }), ['a'], 'must have at least 2 entries'],
  [Type.Array(Type.String(), { uniqueItems: true }), ['a', 'a'], 'must not have the same entry twice'],
  [Type.Array(Type.String()), {}, 'must be a list'],
  [{ not: { required: ['a', 'b'] } }, { a: 1, b: 2 }, 'must not have a and b together']
])('the schema %j explains the invalid value %j in words', (schema, value, message) => {
  expect(faults(schema, value)).toEqual([{ path: 'body', message }])
})

test('faults of missing and unknown members have the path of the member, and a field has one fault at most', () => {
  const schema = input({ email: Type.String(), tag: Type.String({ minLength: 2, pattern: '^x' }) })
  expect(faults(schema, { tag: 'a', 'e/mail': 'x' })).toEqual([
    { path: 'body/email', message: 'is required' },
    { path: 'body/e~1mail', message: 'is not known here' },
    { path: 'body/tag', message: 'must be at least 2 characters long' }
  ])
})

test('for a value that matches no branch of a union, the faults of the nearest branch are returned', () => {
  const items = Type.Array(input({ id: Id, quantity: Type.Integer({ minimum: 1 }) }))
  const schema = Type.Union([input({ token: Type.String() }), input({ items })])
  expect(faults(schema, { token: 7 })).toEqual([{ path: 'body/token', message: 'must be text' }])
  const id = '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e'
  expect(faults(schema, { items: [{ id, quantity: 1 }, { id }] })).toEqual([
    { path: 'body/items/1/quantity', message: 'is required' }
  ])
  expect(
    faults(Type.Array(nullable(input({ n: Type.Integer() }))), [null, {}, { n: 1 }, { n: 'x' }])
  ).toEqual([
    { path: 'body/1/n', message: 'is required' },
    { path: 'body/3/n', message: 'must be a whole number' }
  ])
})

test('an invalid member name that the caller chose gets the message of the rule for names', () => {
  const { pattern } = patternWithMessage('^[a-z]{1,3}$', 'must have a short name')
  const schema = Type.Record(Type.String({ pattern }), Type.String(), { additionalProperties: false })
  expect(faults(schema, { long_name: '' })).toEqual([
    { path: 'body/long_name', message: 'must have a short name' }
  ])
})

test('a pattern can have one message only, and a second one is an error', () => {
  patternWithMessage('^kernel-test$', 'must be that')
  expect(patternWithMessage('^kernel-test$', 'must be that')).toEqual({ pattern: '^kernel-test$' })
  expect(() => patternWithMessage('^kernel-test$', 'must be another')).toThrow('two texts')
  expect(patternMessage('^kernel-test$')).toBe('must be that')
})

test.each([
  ['2026-11-30T23:59:59Z', true],
  ['2026-11-30T23:59:59.123456+02:00', true],
  ['2016-12-31T23:59:60Z', false],
  ['2026-02-30T00:00:00Z', false],
  ['2026-11-30', false]
])('the text %s is a valid date-time in a request: %s', (value, isValid) => {
  const errors = compileSchema(Type.String({ format: 'date-time' }))(value)
  expect(errors.length === 0).toBe(isValid)
})
