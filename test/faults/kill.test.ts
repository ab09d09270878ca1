import { expect, test } from 'vitest'
import { killLoop } from './kill-loop.ts'

test('acknowledged writes survive kill -9 of the process and of PostgreSQL, and none is applied twice', async () => {
  const report = await killLoop(3)
  expect(report.wrong).toEqual([])
  expect(report.kills).toBe(3)
  expect(report.acknowledged).toBeGreaterThan(60)
})
