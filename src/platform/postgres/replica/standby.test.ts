import { expect, onTestFinished, test, vi } from 'vitest'
import type { Queryable } from '../queryable.ts'
import { watchStandby } from './standby.ts'

test('a standby that lags, is away or was promoted is a problem, which is reported once', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let state: () => object = () => ({ is_standby: true, lag_seconds: 59 })
  const reported: (string | null)[] = []
  const db = { first: async () => state() } as unknown as Queryable
  const { statistics, close } = watchStandby(db, problem => reported.push(problem))
  onTestFinished(close)
  const pass = () => vi.advanceTimersByTimeAsync(3_000)
  await pass()
  expect(statistics()).toMatchObject({ problem: null, lagSeconds: 59 })
  state = () => ({ is_standby: true, lag_seconds: 61 })
  await pass()
  expect(statistics()).toMatchObject({ problem: 'it lags 61 seconds', lagSeconds: 61 })
  state = () => {
    throw new Error('no route to host')
  }
  await pass()
  expect(statistics()).toMatchObject({ problem: 'it cannot be reached: no route to host', lagSeconds: 61 })
  state = () => ({ is_standby: true, lag_seconds: 0 })
  await pass()
  expect(statistics().problem).toBeNull()
  state = () => ({ is_standby: false, lag_seconds: 0 })
  await pass()
  expect(reported).toEqual(['it lags 61 seconds', null, 'it is not a standby'])
})
