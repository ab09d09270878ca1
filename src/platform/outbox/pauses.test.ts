import { expect, test } from 'vitest'
import { pauseSeconds, TRIES_MAX } from './pauses.ts'

test('retry delays triple, vary by half of their length, and end with the last try', () => {
  const middle = Array.from({ length: TRIES_MAX }, (_, index) => pauseSeconds(index + 1, 0.5))
  expect(middle).toEqual([2, 6, 18, 54, 162, 486, 1_458, 4_374, 13_122, null])
  expect([pauseSeconds(1, 0), pauseSeconds(1, 1)]).toEqual([1, 3])
  expect(pauseSeconds(9, 1)).toBeLessThanOrEqual(21_600)
})
