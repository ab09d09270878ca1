import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const known = ['enabled', 'port', 'host', 'pool_size', 'statement_timeout_ms', 'lock_timeout_ms']

test.each([
  ['enabeld', 'enabled'],
  ['prot', 'port'],
  ['POOLSIZE', 'pool_size'],
  ['pool-size', 'pool_size'],
  ['statment_timout_ms', 'statement_timeout_ms'],
  ['hots', 'host']
])('the nearest word of %s is %s', (word, meant) => {
  expect(nearest(word, known)).toBe(meant)
})

test.each(['colour', 'x', 'entirely_different'])('no known word is similar to %s', word => {
  expect(nearest(word, known)).toBeUndefined()
})

test('an empty list has no nearest word', () => {
  expect(nearest('word', [])).toBeUndefined()
})

test('a known word is its own nearest word, and the result is always a known word', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.constantFrom(...known), (word, exact) => {
      expect(nearest(exact, known)).toBe(exact)
      const found = nearest(word, known)
      if (found !== undefined) expect(known).toContain(found)
    })
  )
})
