import { expect, test } from 'vitest'
import { createRecentRequestDurations } from './recent.ts'

const MINUTE = 60_000

function useRecent() {
  let now = 0
  const recent = createRecentRequestDurations([0.01, 0.1, 1], () => now)
  return {
    read: recent.read,
    count: (bucket: number, times: number) => {
      for (let time = 0; time < times; time += 1) recent.count(bucket)
    },
    pass: (minutes: number) => {
      now += minutes * MINUTE
    }
  }
}

test('each quantile of request durations lies within the histogram bucket of its request', () => {
  const { read, count } = useRecent()
  expect(read()).toEqual({ requests: 0, p50_ms: null, p99_ms: null })
  count(0, 50)
  count(1, 50)
  expect(read()).toEqual({ requests: 100, p50_ms: 10, p99_ms: 98.2 })
  count(3, 100)
  // The longest duration is unknown; it is above the last bucket.
  expect(read()).toEqual({ requests: 200, p50_ms: 100, p99_ms: 1_000 })
})

test('requests older than five to six minutes are not counted in the recent statistics', () => {
  const { read, count, pass } = useRecent()
  count(2, 10)
  for (let minute = 0; minute < 4; minute += 1) {
    pass(1)
    count(0, 1)
  }
  expect(read().requests).toBe(14)
  pass(1)
  count(0, 1)
  pass(1)
  expect(read().requests).toBeLessThan(14)
  pass(6)
  expect(read().requests).toBe(0)
  count(1, 1)
  expect(read()).toMatchObject({ requests: 1, p50_ms: 55 })
})
