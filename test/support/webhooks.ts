import { expect } from 'vitest'
import type { PayloadOf } from '../../src/kernel/events.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Module } from '../../src/module.ts'
import { catalogModule, productChangedEvent } from '../../src/modules/catalog/index.ts'
import { orderPlacedEvent } from '../../src/modules/orders/index.ts'
import { webhooksModule } from '../../src/modules/webhooks/index.ts'
import { admin } from '../../src/testing.ts'
import { useShop } from './use-shop.ts'
import { useReceiver } from './webhook-receiver.ts'

export const PATIENCE = { timeout: 60_000 }
export const ENDPOINTS = '/api/admin/webhooks/endpoints'
export const DELIVERIES = '/api/admin/webhooks/deliveries'

/** A shop that sends webhooks, and a receiver. */
export async function useWebhooks(settings: Record<string, string> = {}, ...more: readonly Module[]) {
  const receiver = await useReceiver()
  const shop = await useShop({
    modules: [catalogModule, webhooksModule, ...more],
    instead: { orders: {} },
    settings: { CARTWRIGHT__HTTP__PRIVATE_HOSTS: '["127.0.0.1", "localhost"]', ...settings }
  })
  const asAdmin = shop.as(admin())

  /** Creates an endpoint. Returns it with its secret. */
  async function subscribe(body: object = {}) {
    const { status, json, text } = await asAdmin.post(ENDPOINTS, { url: receiver.url, ...body })
    expect(status, text).toBe(201)
    return json
  }
  /** Emits the event of a placed order, without an order. */
  async function emitOrderPlaced(payload: Partial<PayloadOf<typeof orderPlacedEvent>> = {}): Promise<string> {
    const order_id = newId()
    const placed = { order_id, number: '1001', customer_id: null, currency: 'USD', total: 100, ...payload }
    await shop.emit(orderPlacedEvent, { id: order_id, version: 1 }, placed)
    return order_id
  }
  /** Emits the event of a changed product, without a product. */
  const emitProductChanged = (product_id: string) =>
    shop.emit(productChangedEvent, { id: product_id, version: 1 }, { product_id })
  const deliveriesOf = async (query = '') => (await asAdmin.get(`${DELIVERIES}${query}`)).json.items
  const waitForStatus = (status: string, count = 1) =>
    expect.poll(async () => (await deliveriesOf(`?status=${status}`)).length, PATIENCE).toBe(count)
  return {
    ...shop,
    admin: asAdmin,
    receiver,
    subscribe,
    emitOrderPlaced,
    emitProductChanged,
    /** Number of deliveries that failed and wait for a retry. */
    retryCount: async () => {
      const waits = `select id from webhooks.deliveries where status = 'pending' and lease is null and tries > 0`
      return (await shop.sql(waits)).length
    },
    deliveriesOf,
    /** Waits until this number of deliveries has the status. */
    waitForStatus,
    waitForRequests: (count: number) => expect.poll(() => receiver.received.length, PATIENCE).toBe(count),
    /** Makes all waiting retries due now. */
    hurry: async () => {
      await shop.sql(
        `update webhooks.deliveries set due_at = now() where status = 'pending' and lease is null`
      )
      await shop.sql(
        `update cartwright.jobs set due_at = now() where handler = 'webhooks.find_due' and lease is null`
      )
    }
  }
}
