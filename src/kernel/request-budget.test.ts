import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRequestBudget } from './request-budget.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1_000)

test('a rate budget can be spent immediately or over time, and refills evenly', () => {
  const take = createRequestBudget(60)
  for (let count = 0; count < 60; count += 1) expect(take('a')).toBe(0)
  expect(take('a')).toBe(1)
  pass(1)
  expect(take('a')).toBe(0)
  expect(take('a')).toBe(1)
  pass(3_600)
  for (let count = 0; count < 60; count += 1) expect(take('a')).toBe(0)
  expect(take('a')).toBe(1)
})

test('a full rate budget can be spent at any time, also at a fraction of a millisecond', () => {
  const clock = vi.spyOn(performance, 'now')
  for (let instant = 0; instant < 2_000; instant += 1) {
    clock.mockReturnValue(instant * 1_234.567_891)
    for (const perMinute of [1, 7]) {
      const take = createRequestBudget(perMinute)
      for (let count = 0; count < perMinute; count += 1) expect(take('a')).toBe(0)
      expect(take('a')).toBeGreaterThan(0)
    }
  }
  clock.mockRestore()
})

test('after the wait that a rate budget returned a request is accepted, and rejected requests cost nothing', () => {
  const take = createRequestBudget(1)
  expect(take('a')).toBe(0)
  for (let count = 0; count < 10; count += 1) expect(take('a')).toBe(60)
  pass(59)
  expect(take('a')).toBe(1)
  pass(1)
  expect(take('a')).toBe(0)
})

test('several requests are taken from a rate budget together or not at all, and can be returned', () => {
  const take = createRequestBudget(60)
  expect([take('a', 50), take('a', 20), take('a', 10), take('a')]).toEqual([0, 10, 0, 1])
  expect([take('a', -20), take('a', 20), take('a')]).toEqual([0, 0, 1])
  expect([take('a', -60), take('a', -60), take('a', 60), take('a')]).toEqual([0, 0, 0, 1])
})

test('rate budgets of different callers are independent of each other', () => {
  const take = createRequestBudget(1)
  expect(take('a')).toBe(0)
  expect(take('b')).toBe(0)
  expect(take('a')).toBeGreaterThan(0)
})

test('with a million callers the rate budgets of the newest are still limited', () => {
  const take = createRequestBudget(1)
  for (let caller = 0; caller < 1_000_000; caller += 1) take(`caller ${caller}`)
  expect(take('caller 999999')).toBeGreaterThan(0)
  expect(take('caller 0')).toBe(0)
})
