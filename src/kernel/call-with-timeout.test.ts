import { expect, test, vi } from 'vitest'
import { callWithTimeout, isTimeoutError } from './call-with-timeout.ts'

test('a call returns its result, and no timer stays', async () => {
  vi.useFakeTimers()
  expect(await callWithTimeout(1_000, async () => 7)).toBe(7)
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

test('a call that hangs is aborted and rejects at its timeout, and its late failure is dropped', async () => {
  const late = Promise.withResolvers<never>()
  let aborted: AbortSignal | undefined
  const call = callWithTimeout(1, signal => {
    aborted = signal
    return late.promise
  })
  const error = await call.catch(reason => reason)
  expect([isTimeoutError(error), error.message]).toEqual([true, 'no response within 1 ms'])
  expect(aborted?.aborted).toBe(true)
  late.reject(new Error('too late'))
})

test('the error of a call stays its own', async () => {
  const call = callWithTimeout(1_000, () => Promise.reject(new Error('refused')))
  await expect(call).rejects.toThrow('refused')
  expect(isTimeoutError(await call.catch(reason => reason))).toBe(false)
})
