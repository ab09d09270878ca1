import { expect, test } from 'vitest'
import { killLoop } from './kill-loop.ts'

test('what was acknowledged survives kill -9 of the process and of PostgreSQL, and nothing is there twice', async () => {
  const report = await killLoop(3)
  expect(report.wrong).toEqual([])
  expect(report.kills).toBe(3)
  expect(report.acknowledged).toBeGreaterThan(60)
})
