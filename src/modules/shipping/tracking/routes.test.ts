import { expect, test } from 'vitest'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { useParcels } from '../../../../test/support/shipping.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const day = (day: number) => `2026-11-0${day}T10:00:00.000Z`
const SORTED = {
  status: 'in_transit',
  occurred_at: day(2),
  description: 'Sorted',
  location: 'Lund',
  event_id: 'e1'
}
const ARRIVED = { status: 'delivered', occurred_at: day(4), event_id: 'e2' }

test('tracking events are shown to the buyer once, latest first', async () => {
  const { send, tell, read } = await useParcels()
  const { id, orderId } = await send({ carrier: 'Post', tracking_number: 'PP1' })
  expect((await tell(id, ARRIVED)).status).toBe(200)
  const { status, json } = await tell(id, SORTED)
  expect([status, json]).toMatchObject([
    200,
    {
      id,
      order_id: orderId,
      status: 'delivered',
      version: 3,
      events: [{ event_id: 'e2' }, { event_id: 'e1' }]
    }
  ])
  expect((await tell(id, SORTED)).json.events).toHaveLength(2)
  const { items } = (await read(orderId)).json
  expect(items).toMatchObject([
    {
      id,
      status: 'delivered',
      carrier: 'Post',
      tracking_number: 'PP1',
      service: 'Standard',
      lines: [{ line: 1, quantity: 3 }]
    }
  ])
  expect(items[0].events).toEqual([
    { status: 'delivered', occurred_at: day(4), description: null, location: null },
    { status: 'in_transit', occurred_at: day(2), description: 'Sorted', location: 'Lund' }
  ])
})

test('a shipment emits its events delivered and returned once, however often the tracking events are repeated', async () => {
  needsOwnShop()
  const { send, tell, receivedEvents, admin } = await useParcels()
  const [one, other] = [await send(), await send()]
  const returned = { status: 'returned', occurred_at: day(5) }
  await Promise.all([
    tell(one.id, ARRIVED),
    tell(one.id, { ...ARRIVED, event_id: 'e3' }),
    tell(one.id, SORTED)
  ])
  const batch = { events: [returned, ARRIVED, SORTED, SORTED] }
  const { json } = await admin.post(`/api/admin/shipping/shipments/${other.id}/events/batch`, batch)
  expect([json.status, json.events.length]).toEqual(['returned', 3])
  await tell(one.id, returned)
  await expect
    .poll(() => receivedEvents.toSorted())
    .toEqual(
      [
        `delivered ${one.orderId} ${one.id}`,
        `returned ${one.orderId} ${one.id}`,
        `returned ${other.orderId} ${other.id}`
      ].sort()
    )
})

test("a shipment's estimated delivery is that of the carrier, else of the shipping method, while in transit", async () => {
  const { send, tell, read, sql } = await useParcels()
  const { id, orderId } = await send()
  await sql(`update shipping.shipments set sent_at = '2026-11-01T10:00:00Z' where id = $1`, [id])
  const estimate = async () => (await read(orderId)).json.items[0].estimated_delivery
  expect(await estimate()).toBe('2026-11-05')
  await tell(id, { ...SORTED, estimated_delivery: '2026-11-09' })
  expect(await estimate()).toBe('2026-11-09')
  await tell(id, ARRIVED)
  expect(await estimate()).toBeNull()
})

test('tracking events are limited in time and number, and only shipped parcels have them', async () => {
  const { shipping, send, tell, read, admin, db, buyer } = await useParcels()
  const { id } = await send()
  const codes = async (body: object, shipment = id) => {
    const { status, json } = await tell(shipment, body)
    return [status, json.code]
  }
  const past = { ...SORTED, occurred_at: '1999-12-31T23:59:59Z' }
  const future = { ...SORTED, occurred_at: new Date(Date.now() + 2 * 86_400_000).toISOString() }
  expect(await codes(past)).toEqual([400, 'SHIPPING_EVENT_TIME_INVALID'])
  expect(await codes(future)).toEqual([400, 'SHIPPING_EVENT_TIME_INVALID'])
  expect((await tell(id, { ...SORTED, status: 'lost' })).json.errors).toMatchObject([{ path: 'body/status' }])
  expect(await codes(SORTED, newId())).toEqual([404, 'SHIPPING_SHIPMENT_NOT_FOUND'])
  const orderId = newId()
  const option = {
    id: 'x',
    method: 'shipping',
    provider: null,
    service: 'Post',
    estimatedDays: null
  } as const
  await db.transaction(tx =>
    shipping.createShipments(tx, {
      orderId,
      customerId: buyer.id,
      groups: [{ key: 'goods', lines: [{ line: 1, quantity: 1 }], option }]
    })
  )
  const waiting = (await read(orderId)).json.items[0].id
  expect(await codes(SORTED, waiting)).toEqual([409, 'SHIPPING_SHIPMENT_NOT_SENT'])
  expect((await tell(id, SORTED, { 'if-match': '"9"' })).json.code).toBe('SHIPPING_SHIPMENT_STALE')
  const many = (from: number) =>
    admin.post(`/api/admin/shipping/shipments/${id}/events/batch`, {
      events: Array.from({ length: 100 }, (_, index) => ({ ...SORTED, event_id: `n${from + index}` }))
    })
  for (const from of [0, 100, 200]) expect((await many(from)).status).toBe(200)
  expect((await many(250)).json).toMatchObject({ code: 'SHIPPING_EVENTS_LIMIT', limit: 300 })
})
