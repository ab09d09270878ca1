import { expect, test } from 'vitest'
import { createAdaptiveConcurrencyLimit } from './concurrency-limit.ts'

/** Simulates an overloaded backend that serves `perSecond` requests and takes at least `baseMs` for each. */
function simulate(perSecond: number, baseMs: number, seconds: number, max = 1_000): number {
  const limit = createAdaptiveConcurrencyLimit(max)
  let now = 1_000
  let begun: number[] = []
  const endAt = now + seconds * 1_000
  for (; now < endAt; now += 5) {
    while (begun.length < limit.value()) begun.push(now)
    limit.noteReached()
    // By Little's law: more concurrent requests take longer each.
    const takesMs = Math.max(baseMs, (begun.length / perSecond) * 1_000)
    const done = begun.filter(at => now - at >= takesMs)
    for (const at of done) limit.sample(at, now)
    begun = begun.filter(at => now - at < takesMs)
    if (now % 50 === 0) limit.adjust(now)
  }
  return limit.value()
}

test('the concurrency limit for a quick backend is what it serves in 50 ms', () => {
  const value = simulate(5_000, 2, 10)
  expect(value).toBeGreaterThan(180)
  expect(value).toBeLessThan(400)
})

test('the concurrency limit treats a distant backend as slow to reach, not as busy', () => {
  const value = simulate(5_000, 40, 20)
  expect(value).toBeGreaterThan(320)
  expect(value).toBeLessThan(600)
})

test('the concurrency limit for a slow backend is the minimum', () => {
  expect(simulate(400, 100, 10)).toBe(64)
})

test('the concurrency limit falls after one measurement of a slower backend', () => {
  const limit = createAdaptiveConcurrencyLimit(1_000)
  const measure = (startedAt: number, now: number) => {
    for (let each = 0; each < 20; each += 1) limit.sample(startedAt, now)
    limit.adjust(now)
  }
  for (let now = 1_000; now < 10_000; now += 200) {
    limit.noteReached()
    measure(now - 1, now)
  }
  expect(limit.value()).toBe(1_000)
  measure(10_000, 10_125)
  expect(limit.value()).toBe(400)
  // Requests that started before the change, and the first to end after it, are ignored.
  measure(10_100, 10_700)
  measure(10_126, 10_127)
  expect(limit.value()).toBe(400)
})

test('the concurrency limit does not change without demand', () => {
  const limit = createAdaptiveConcurrencyLimit(1_000)
  for (let each = 0; each < 100; each += 1) limit.sample(999, 1_000)
  limit.adjust(1_000)
  expect(limit.value()).toBe(64)
})

test('the concurrency limit never exceeds the configured maximum', () => {
  expect(simulate(5_000, 2, 5, 10)).toBe(10)
})
