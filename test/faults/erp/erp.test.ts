import { expect, test } from 'vitest'
import { runErp } from './run.ts'

// Lane long: it takes 20 seconds. src/platform/postgres/changed-rows.test.ts has the rule for polls.

test('an ERP written from its guide is equal to the shop after changes, a kill of the shop, and crashes of its own', async () => {
  const report = await runErp({ products: 200, changes: 80, kills: 1 })
  expect(report.wrong).toEqual([])
  expect(report.rows.products).toBeGreaterThan(180)
  expect(report.rows.orders).toBeGreaterThan(5)
  expect(report.events).toBeGreaterThan(40)
})
