import { expect, test } from 'vitest'
import { reportOf } from './report.ts'
import { runChaos } from './run.ts'

test('whatever happens, orders and money are as everybody was told', async () => {
  const report = await runChaos({ processes: 1, seconds: 8, seed: 4, settledSeconds: 150 })
  expect(report.broken, reportOf(report)).toEqual([])
  expect(report.book.attempts.length).toBeGreaterThan(0)
}, 240_000)
