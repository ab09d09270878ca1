import cluster, { type Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createWorkerLauncher } from './launch.ts'
import { createMeasurementSums } from './measurements.ts'

const unused = () => Promise.reject(new Error('not called'))

test.each([
  [
    'throws',
    () => {
      throw new Error('spawn ENOMEM')
    }
  ],
  ['gives no process', () => Object.assign(new EventEmitter(), { process: {} }) as unknown as Worker]
])('a worker counts as ended when the system %s at its start', async (_what, fork) => {
  const spied = vi.spyOn(cluster, 'fork').mockImplementation(fork)
  onTestFinished(() => spied.mockRestore())
  const { launch, failedCode } = createWorkerLauncher({
    count: 2,
    openDatabase: unused,
    exchangeBudgetClaims: () => [],
    exposeMetrics: unused,
    sums: createMeasurementSums(),
    onFirstReady: unused,
    onReadyCount: unused,
    onSilent: unused
  })
  const { ready, ended } = launch(1)
  await expect(ready).rejects.toThrow()
  expect(await ended).toEqual({ code: null, signal: null })
  expect(failedCode()).toBe(1)
})

test.each([
  [[], undefined],
  [[undefined], undefined],
  [['it lags', 'it lags'], 'it lags'],
  [['it lags', null], null]
])('the replica is as a worker that uses it sees it: %j', (problems, problem) => {
  const sums = createMeasurementSums()
  for (const each of problems)
    sums.set(() => unused(), {
      metrics: [],
      pool: sums.pool(),
      replica: each === undefined ? each : { problem: each }
    })
  expect(sums.replica()?.problem).toBe(problem)
})
