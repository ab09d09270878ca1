import { expect } from 'vitest'
import type { Module } from '../../src/module.ts'
import { signSandboxWebhook } from '../../src/payment-sandbox/signature.ts'
import { customer } from '../../src/testing.ts'
import { until } from '../faults/until.ts'
import { CHECKOUT_MODULES } from './checkouts.ts'
import { sent, useOrders } from './orders.ts'
import { useSandbox, WEBHOOK_SECRET } from './payments.ts'

export const CARD = { provider: 'sandbox', method: 'card' }
type Options<Apis> = {
  capture?: 'automatic' | 'manual'
  settings?: Readonly<Record<string, string>>
  /** Modules in addition to those of a checkout. */
  others?: readonly Module[]
  instead?: Apis | (() => Apis)
}
// biome-ignore lint/suspicious/noExplicitAny: a test reads fields of any response
type Json = any

/** Starts a shop whose orders are paid at its own sandbox. It sends callbacks only on request of the test. */
export async function usePaidOrders<Apis extends Record<string, object> = Record<string, never>>({
  capture = 'automatic',
  settings = {},
  others = [],
  instead = {} as Apis
}: Options<Apis> = {}) {
  const sandbox = await useSandbox()
  const shop = await useOrders({
    modules: [...CHECKOUT_MODULES, ...others],
    instead,
    settings: {
      CARTWRIGHT__PAYMENTS__SANDBOX__URL: sandbox.url,
      CARTWRIGHT__PAYMENTS__CAPTURE: capture,
      ...settings
    }
  })
  await shop.stock(shop.mug, 100)
  const caller = customer()
  const buyer = shop.as(caller)
  const paymentOf = async (orderId: string): Promise<string> => {
    const [payment] = await shop.sql(
      'select id from payments.payments where order_id = $1 order by id desc',
      [orderId]
    )
    return String(payment?.id)
  }
  /** Does what the customer does on the payment page, without a callback to the shop. */
  const act = async (orderId: string, deed: string) => {
    const { id } = await sandbox.intentOf(await paymentOf(orderId))
    return sandbox.ask(`/test/payment_intents/${id}/${deed}`, {})
  }
  /** Builds the callback with the sandbox's present state of the payment. */
  const callbackOf = async (orderId: string) => {
    const object = await sandbox.intentOf(await paymentOf(orderId))
    const event = {
      id: `evt_${crypto.randomUUID()}`,
      object: 'event',
      type: 'payment_intent.updated',
      data: { object }
    }
    const raw = Buffer.from(JSON.stringify(event))
    const headers = {
      'content-type': 'application/json',
      'sandbox-signature': signSandboxWebhook(WEBHOOK_SECRET, raw, new Date())
    }
    return { path: '/api/payments/callback/sandbox', body: raw, headers }
  }
  const callBack = async (orderId: string): Promise<number> => {
    const { path, ...options } = await callbackOf(orderId)
    return (await shop.request('POST', path, options)).status
  }
  const read = async (orderId: string): Promise<Json> =>
    (await shop.admin.get(`/api/admin/orders/${orderId}`)).json
  const becomes = async (orderId: string, wanted: object): Promise<Json> => {
    await expect.poll(() => read(orderId)).toMatchObject(wanted)
    return read(orderId)
  }
  /** Makes all waiting operations and events due now. */
  const hurry = async () => {
    await shop.sql('update payments.events set next_check_at = now() where next_check_at is not null')
    await shop.sql('update payments.operations set next_check_at = now() where settled_at is null')
    await shop.sql(`update cartwright.jobs set due_at = now() where lease is null`)
  }
  return {
    ...shop,
    sandbox,
    caller,
    buyer,
    act,
    callbackOf,
    callBack,
    read,
    becomes,
    hurry,
    order: async (quantity = 2): Promise<Json> => {
      const body = { ...sent(shop.mug, quantity), payment: CARD }
      const { status, json, text } = await buyer.post('/api/orders', body)
      expect(status, text).toBe(201)
      return json
    },
    /** Pays the order, or authorizes it, and waits until the shop has recorded it. */
    pay: async (orderId: string): Promise<void> => {
      await act(orderId, 'pay')
      await callBack(orderId)
      await becomes(orderId, { status: 'paid' })
    },
    /** Runs an action of an administrator, which must succeed. */
    does: async (orderId: string, what: string, body: object = {}): Promise<Json> => {
      const { status, json, text } = await shop.admin.post(`/api/admin/orders/${orderId}/${what}`, body)
      expect(status, text).toBe(200)
      return json
    },
    settled: () =>
      until(
        'all operations and events are settled',
        async () => {
          const [{ open } = { open: 1 }] = await shop.sql(
            `select (select count(*) from payments.operations where settled_at is null)::int +
               (select count(*) from payments.events where state = 'received')::int as open`
          )
          if (open === 0) return true
          await hurry()
          return false
        },
        25_000
      )
  }
}
export type PaidOrders = Awaited<ReturnType<typeof usePaidOrders>>
