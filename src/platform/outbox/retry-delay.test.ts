import { expect, test } from 'vitest'
import { JOB_ATTEMPTS_MAX, jobRetryDelaySeconds } from './retry-delay.ts'

test('retry delays of events triple, vary by half of their length, and end with the last try', () => {
  const middle = Array.from({ length: JOB_ATTEMPTS_MAX }, (_, index) => jobRetryDelaySeconds(index + 1, 0.5))
  expect(middle).toEqual([2, 6, 18, 54, 162, 486, 1_458, 4_374, 13_122, null])
  expect([jobRetryDelaySeconds(1, 0), jobRetryDelaySeconds(1, 1)]).toEqual([1, 3])
  expect(jobRetryDelaySeconds(9, 1)).toBeLessThanOrEqual(21_600)
})
