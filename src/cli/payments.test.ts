import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../test/faults/until.ts'
import { runCommandLine } from '../../test/support/command.ts'
import { createTestDatabase } from '../../test/support/database.ts'
import { usePayments } from '../../test/support/payments.ts'
import { reconcilePayments } from './payments.ts'

test('the command "payments reconcile" lists objects that are not recorded, and --record records them', async () => {
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  const { order, intent, act, account, payment, sandbox, sql } = await usePayments({ databaseUrl: url })
  const settings = { DATABASE_URL: url, CARTWRIGHT__PAYMENTS__SANDBOX__URL: sandbox.url }
  const run = (...options: string[]) => runCommandLine(['payments', 'reconcile', ...options], { settings })
  const orderId = await order()
  const { id } = await intent(orderId)
  await act(id, 'pay')
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')
  const { object_id: object } = await payment(id)
  await sql(`delete from payments.facts where kind = 'capture'`)

  const since = ['--since', new Date(Date.now() - 60_000).toISOString()]
  const line = new RegExp(`^sandbox ${object}, order ${orderId}: capture ch_\\w+ of 10000 EUR is succeeded`)
  const listed = await run(...since)
  expect(listed).toMatchObject({ code: 1, out: expect.stringMatching(line), errors: '' })
  expect(listed.out).toMatch(/\n1 of 1 objects were not recorded: 0 recorded now, 0 quarantined\.\n$/)
  const recorded = await run(...since, '--record', '--json')
  expect([recorded.code, JSON.parse(recorded.out)]).toMatchObject([0, { looked: 1, total: 1, recorded: 1 }])
  expect(await run(...since)).toEqual({ code: 0, out: 'All objects are recorded (1 checked).\n', errors: '' })
})

test.each([
  ['yesterday', '--since yesterday is not a point in time. Write it as 2026-11-22 or 2026-11-22T07:00:00Z.'],
  ['2026-02-30T25:00:00Z', '--since 2026-02-30T25:00:00Z is not a point in time. Write it as 2026-11-22 or'],
  ['2999-01-01', '--since 2999-01-01 is in the future.']
])('the command "payments reconcile" rejects --since %s', async (since, why) => {
  await expect(reconcilePayments([], { since, record: true, json: false })).rejects.toThrow(why)
})
