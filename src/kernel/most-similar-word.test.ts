import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mostSimilarWord } from './most-similar-word.ts'

const known = ['enabled', 'port', 'host', 'pool_size', 'statement_timeout_ms', 'lock_timeout_ms']

test.each([
  ['enabeld', 'enabled'],
  ['prot', 'port'],
  ['POOLSIZE', 'pool_size'],
  ['pool-size', 'pool_size'],
  ['statment_timout_ms', 'statement_timeout_ms'],
  ['hots', 'host']
])('the nearest known word to %s is %s', (word, meant) => {
  expect(mostSimilarWord(word, known)).toBe(meant)
})

test.each(['colour', 'x', 'entirely_different'])('no known word is similar to the misspelled %s', word => {
  expect(mostSimilarWord(word, known)).toBeUndefined()
})

test('an empty list of known words has no nearest word', () => {
  expect(mostSimilarWord('word', [])).toBeUndefined()
})

test('a known word is its own nearest word, and the nearest word is always a known word', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.constantFrom(...known), (word, exact) => {
      expect(mostSimilarWord(exact, known)).toBe(exact)
      const found = mostSimilarWord(word, known)
      if (found !== undefined) expect(known).toContain(found)
    })
  )
})
