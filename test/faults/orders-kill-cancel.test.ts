import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { usePaidOrders } from '../support/paid-orders.ts'
import { until } from './until.ts'

const VICTIM = fileURLToPath(new URL('./orders-victim.ts', import.meta.url))

/** By the statement that it died with, and whether the order had been canceled before. */
const MOMENTS = [
  ['orders.update_state', false],
  ['orders.insert_adjustment', false],
  ['inventory.insert_requests', false],
  ['payments.insert_operations', false],
  ['payments.claim_operation', true],
  ['payments.settle_operation', true]
] as const

test.each(MOMENTS)(
  'a process is killed at %s: the order is canceled once, and its money goes back once',
  async (moment, isCanceled) => {
    const shop = await usePaidOrders()
    const { id, total } = await shop.order()
    await shop.pay(id)
    const [key, { token = '' }] = [newId(), shop.caller]
    const victim = spawn(
      process.execPath,
      [VICTIM, shop.databaseUrl, shop.sandbox.url, id, moment, token, key],
      { stdio: 'inherit' }
    )
    const [, signal] = await once(victim, 'exit')
    expect(signal).toBe('SIGKILL')
    expect((await shop.read(id)).status).toBe(isCanceled ? 'canceled' : 'paid')
    const retry = () => shop.buyer.post(`/api/orders/${id}/cancel`, undefined, { 'idempotency-key': key })
    await until('the retry is answered', async () => (await retry()).status === 200, 20_000)
    await shop.settled()
    const order = await shop.becomes(id, { status: 'canceled', payment_status: 'refunded' })
    expect(order.adjustments).toMatchObject([{ amount: total, back: total }])
    const refunds = (await shop.sandbox.objects()).filter(({ object }) => object === 'refund')
    expect(refunds.map(({ amount }) => amount)).toEqual([total])
    await expect.poll(() => shop.reserved(shop.mug), { timeout: 15_000 }).toEqual([])
  }
)
