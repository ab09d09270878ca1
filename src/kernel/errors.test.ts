import { expect, test } from 'vitest'
import { DomainError, defineError, errorForConstraint, OperatorError } from './errors.ts'

const taken = defineError('conflict', 'SEAT_TAKEN', 'The seat is taken.')

test("an error made from its definition has the definition's kind, code and message, and its extras", () => {
  const cause = new Error('below')
  const error = taken({ details: { seat: 7 }, retryAfterSeconds: 3, cause })
  expect(error).toBeInstanceOf(DomainError)
  expect(error).toMatchObject({
    kind: 'conflict',
    code: 'SEAT_TAKEN',
    message: 'The seat is taken.',
    details: { seat: 7 },
    retryAfterSeconds: 3,
    cause
  })
})

test('an error without extras has no details, no cause and no retry time', () => {
  expect(taken()).toMatchObject({ details: {}, retryAfterSeconds: undefined, cause: undefined })
  expect(taken()).not.toBe(taken())
})

test('the definition of an error exposes its kind, code and message', () => {
  expect({ ...taken }).toEqual({ kind: 'conflict', code: 'SEAT_TAKEN', message: 'The seat is taken.' })
})

test('an OperatorError is not a DomainError', () => {
  expect(new OperatorError('mend it')).not.toBeInstanceOf(DomainError)
})

test('a database constraint can belong to one error definition only', () => {
  const taken = defineError('conflict', 'TEST_TAKEN', 'Taken.', { constraints: ['test.things_name'] })
  expect(errorForConstraint('test.things_name')).toBe(taken)
  expect(errorForConstraint('test.things_other')).toBeUndefined()
  expect(() => defineError('conflict', 'TEST_OTHER', 'No.', { constraints: ['test.things_name'] })).toThrow(
    'two errors are declared for the constraint test.things_name'
  )
})

test('the field fault of an error is merged into its details', () => {
  const fault = { path: 'body/seat', message: 'must be free' }
  const taken = defineError('conflict', 'TEST_SEAT', 'Taken.', { fault })
  expect(taken().details).toEqual({ errors: [fault] })
  expect(taken({ details: { row: 4 } }).details).toEqual({ errors: [fault], row: 4 })
})

test('an error that may succeed on a retry has mayPass set', () => {
  expect(defineError('conflict', 'TEST_SHORT', 'Short.', { mayPass: true })().mayPass).toBe(true)
  expect(defineError('conflict', 'TEST_NEVER', 'Never.')().mayPass).toBe(false)
})

test('a DomainError collects no stack trace, and other errors still do', () => {
  const stackOf = ({ stack = '' }: Error) => stack.split('\n    at ').slice(1)
  const definition = defineError('not_found', 'TEST_THING_NOT_FOUND', 'There is no such thing.')
  expect(stackOf(definition())).toEqual([])
  expect(stackOf(new Error('a bug'))).not.toEqual([])
})
