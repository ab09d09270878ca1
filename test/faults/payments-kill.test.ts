import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { admin } from '../../src/testing.ts'
import { usePayments } from '../support/payments.ts'
import { until } from './until.ts'

const VICTIM = fileURLToPath(new URL('./payments-victim.ts', import.meta.url))

/** By the statement that it died with, and whether the refund had been decided before. */
const MOMENTS = [
  ['payments.insert_operations', false],
  ['payments.claim_operation', true],
  ['payments.keep_request', true],
  ['payments.settle_operation', true],
  ['payments.upsert_facts', true]
] as const

test.each(MOMENTS)(
  'a process is killed at %s: money goes back once, and the retry says so',
  async (moment, isDecided) => {
    const shop = await usePayments()
    const orderId = await shop.order()
    const { id } = await shop.intent(orderId)
    await shop.act(id, 'pay')
    await until('it is paid', async () => (await shop.account(orderId)).status === 'paid')
    await shop.sandbox.ask('/test/webhooks', { hold: true })
    const [boss, key] = [admin(), newId()]
    const victim = spawn(
      process.execPath,
      [VICTIM, shop.databaseUrl, shop.sandbox.url, id, moment, boss.token, key],
      {
        stdio: 'inherit'
      }
    )
    const [, signal] = await once(victim, 'exit')
    expect(signal).toBe('SIGKILL')
    expect((await shop.account(orderId)).refunding).toBe(isDecided ? 3_000 : 0)
    if (isDecided) {
      await until('it is known', async () => {
        await shop.hurry()
        return (await shop.account(orderId)).refunded === 3_000
      })
    }
    const retry = () =>
      shop
        .as(boss)
        .post(
          `/api/admin/payments/${id}/refund`,
          { amount: 3_000, reason: 'it was broken' },
          { 'idempotency-key': key }
        )
    await until('the retry is answered', async () => (await retry()).status === 200, 20_000)
    expect(await shop.account(orderId)).toMatchObject({ refunded: 3_000, refunding: 0 })
    const refunds = (await shop.sandbox.objects()).filter(({ object }) => object === 'refund')
    expect(refunds.map(({ amount }) => amount)).toEqual([3_000])
  }
)
