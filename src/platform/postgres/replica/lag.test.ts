import { expect, test } from 'vitest'
import { createReplicationLag, parseLogPosition } from './lag.ts'

test('the lag is the age of the oldest position that is not replayed', () => {
  const lag = createReplicationLag()
  expect(lag.at(500)).toBe(0)
  for (const at of [1_000, 2_000, 3_000]) lag.note(BigInt(at), at)
  expect(lag.at(3_500)).toBe(2_500)
  lag.replayed(1_999n)
  expect(lag.at(3_500)).toBe(1_500)
  lag.replayed(3_000n)
  expect(lag.at(9_000)).toBe(0)
})

test('a lag of hours is still measured from its begin', () => {
  const lag = createReplicationLag()
  for (let second = 1; second <= 7_200; second += 1) lag.note(BigInt(second), second * 1_000)
  expect(lag.at(7_200_000)).toBe(7_199_000)
  lag.replayed(3_600n)
  expect(Math.abs(lag.at(7_200_000) - 3_600_000)).toBeLessThan(60_000)
})

test('positions of the log are ordered across its segments of 4 GB', () => {
  expect(parseLogPosition('1/0')).toBe(4_294_967_296n)
  expect(parseLogPosition('0/FFFFFFFF')).toBeLessThan(parseLogPosition('1/0'))
  expect(parseLogPosition('A/1')).toBeGreaterThan(parseLogPosition('9/FFFFFFFF'))
})
