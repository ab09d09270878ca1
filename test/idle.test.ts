import { expect, onTestFinished, test, vi } from 'vitest'
import { openGatewayForShopModules, setUpShopModules, standardModules } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import { openLog } from '../src/platform/log.ts'
import { openPlatform } from '../src/platform/platform.ts'
import type { Timers } from '../src/platform/timers.ts'
import { until } from './faults/until.ts'
import { createTestDatabase } from './support/database.ts'
import { doOnceMore, frequentJobs } from './support/jobs.ts'
import { SECRET_SETTINGS } from './support/secrets.ts'
import { useShop } from './support/use-shop.ts'

test('recurring jobs that have nothing to do write no row', async () => {
  const shop = await useShop()
  expect(frequentJobs).toContain('orders.expire_orders')
  // The first runs in a new shop have something to do.
  for (const job of frequentJobs) await doOnceMore(shop, job)
  const first = vi.spyOn(shop.db, 'first')
  const asked = () => first.mock.calls.filter(([{ name }]) => name === 'payments.exists_due').length
  const rows = () =>
    shop.sql(
      'select handler, xmin::text, due_at, attempts, lease from cartwright.jobs where handler = any ($1) order by handler',
      [frequentJobs]
    )
  await shop.sql(`update cartwright.jobs set due_at = now() - interval '1 second' where handler = any ($1)`, [
    frequentJobs
  ])
  const before = await rows()
  expect(before.map(({ handler }) => handler)).toEqual(frequentJobs.toSorted())
  await until('all were asked whether they have work, and one of them again', () => asked() >= 2)
  expect(await rows()).toEqual(before)
})

test('the timers of an idle process send less than one statement in two seconds', async () => {
  const created = await createTestDatabase()
  const timers: { seconds: number; name: string; run: () => Promise<unknown> }[] = []
  const recorded: Timers = {
    every: (seconds, name, work) => timers.push({ seconds, name, run: () => work(AbortSignal.any([])) }),
    untilEmpty: (seconds, name, run) => timers.push({ seconds, name, run }),
    stop: async () => {}
  }
  let sent: string[] = []
  const config = loadConfig(standardModules, { ...SECRET_SETTINGS, CARTWRIGHT__LOG__LEVEL: 'silent' })
  const platform = await openPlatform(config, created.url, openLog(config.log), {
    onStatement: name => sent.push(name)
  })
  const shop = await setUpShopModules({ ...platform, timers: recorded }).then(openGatewayForShopModules)
  onTestFinished(async () => {
    await shop.app.close()
    await shop.stop()
    await platform.close()
    await created.drop()
  })
  for (const { run } of timers) await run()
  let perSecond = 0
  for (const { seconds, run } of timers) {
    sent = []
    await run()
    perSecond += sent.length / seconds
  }
  expect(timers.length).toBeGreaterThan(20)
  expect(perSecond).toBeGreaterThan(0.1)
  expect(perSecond).toBeLessThan(0.5)
})
