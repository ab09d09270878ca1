import { expect, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'
import { newId } from '../../../kernel/ids.ts'

const ARRIVED = { status: 'delivered', occurred_at: '2026-11-04T10:00:00Z' }
const WRONG = { reason: 'the carrier meant another parcel' }

async function useDelivered() {
  const shop = await usePaidOrders()
  return {
    ...shop,
    /** An order whose only shipment was reported as delivered, and the path of that event. */
    delivered: async () => {
      const { id } = await shop.order()
      await shop.pay(id)
      const [{ id: parcel }] = (await shop.does(id, 'shipments')).shipments
      const { json } = await shop.admin.post(`/api/admin/shipping/shipments/${parcel}/events`, ARRIVED)
      await expect.poll(async () => (await shop.read(id)).history.at(-1).action).toBe('deliver')
      return { id, parcel, path: `shipments/${parcel}/events/${json.events[0].id}/void` }
    },
    complete: async () => {
      await shop.sql(`update orders.orders set progressed_at = progressed_at - interval '31 days'`)
      await doOnceMore(shop, 'orders.complete_orders')
    },
    parcelOf: async (id: string) => (await shop.buyer.get(`/api/shipping/order/${id}`)).json.items[0].status
  }
}

test('an order that was completed automatically is reopened when its delivery event is voided', async () => {
  const shop = await useDelivered()
  const { id, path } = await shop.delivered()
  await shop.complete()
  expect((await shop.read(id)).status).toBe('completed')
  const key = { 'idempotency-key': crypto.randomUUID() }
  const again = () => shop.admin.post(`/api/admin/orders/${id}/${path}`, WRONG, key)
  expect((await again()).status).toBe(200)
  const { json } = await again()
  expect(json.status).toBe('shipped')
  expect(json.history.slice(-2)).toMatchObject([
    { action: 'void_event', from: 'completed', reason: WRONG.reason, actor: expect.any(String) },
    { action: 'reopen', from: 'completed', to: 'placed' }
  ])
  expect(await shop.parcelOf(id)).toBe('in_transit')
  // Voiding it again changes nothing.
  expect((await shop.does(id, path, WRONG)).history).toHaveLength(json.history.length)
  const own = (await shop.buyer.get(`/api/orders/${id}`)).json
  expect(own.history.map(({ action }: { action: string }) => action)).not.toContain('void_event')
  await shop.complete()
  expect((await shop.read(id)).status).toBe('completed')
})

test('an order completed by an administrator stays completed, and an order with a return or refund keeps its delivery', async () => {
  const shop = await useDelivered()
  const [done, returned, refunded] = [await shop.delivered(), await shop.delivered(), await shop.delivered()]
  await shop.does(done.id, 'transition', { action: 'complete' })
  expect(await shop.does(done.id, done.path, WRONG)).toMatchObject({ status: 'completed' })
  expect(await shop.parcelOf(done.id)).toBe('in_transit')

  await shop.does(returned.id, 'returns', { lines: [{ line: 1, quantity: 1 }] })
  await shop.does(refunded.id, 'refunds', { amount: 100, reason: 'late' })
  for (const [{ id, path }, reason] of [
    [returned, 'returned'],
    [refunded, 'refunded']
  ] as const) {
    const before = await shop.read(id)
    const { status, json } = await shop.admin.post(`/api/admin/orders/${id}/${path}`, WRONG)
    expect([status, json]).toMatchObject([
      409,
      { code: 'ORDER_ACTION_REFUSED', action: 'void_event', reason }
    ])
    expect(await shop.parcelOf(id)).toBe('delivered')
    expect((await shop.read(id)).version).toBe(before.version)
  }
  // An event that does not change the status can still be voided.
  const { json } = await shop.admin.post(`/api/admin/shipping/shipments/${returned.parcel}/events`, {
    ...ARRIVED,
    event_id: 'again'
  })
  const again = json.events.find((event: { event_id: string }) => event.event_id === 'again').id
  await shop.does(returned.id, `shipments/${returned.parcel}/events/${again}/void`, WRONG)
  expect(await shop.parcelOf(returned.id)).toBe('delivered')
})

test('voiding a tracking event needs its order and a reason', async () => {
  const shop = await useDelivered()
  const [{ id, parcel, path }, other] = [await shop.delivered(), await shop.delivered()]
  const code = async (of: string, at: string, body: object = WRONG, headers = {}) => {
    const { status, json } = await shop.admin.post(`/api/admin/orders/${of}/${at}`, body, headers)
    return `${status} ${json.code}`
  }
  expect(await code(other.id, path)).toBe('404 SHIPPING_SHIPMENT_NOT_FOUND')
  expect(await code(id, `shipments/${parcel}/events/${newId()}/void`)).toBe('404 SHIPPING_EVENT_NOT_FOUND')
  expect(await code(id, path, {})).toMatch('400')
  expect(await code(id, path, WRONG, { 'if-match': '"1"' })).toMatch('ORDER_STALE')
  expect(await shop.parcelOf(id)).toBe('delivered')
})
