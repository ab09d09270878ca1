import { expect, test } from 'vitest'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { useShipping } from '../../../../test/support/shipping.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'
import { type ShippingApi, shippingModule } from '../index.ts'
import type { NewOrderShipments } from './service.ts'

shareShops()

async function useShipments() {
  const shop = await useShipping()
  const { createShipments: open } = shop.apiOf(shippingModule) as ShippingApi
  const buyer = customer()
  return {
    shop,
    buyer,
    open: (order: NewOrderShipments) => shop.db.transaction(tx => open(tx, order)),
    read: (orderId: string, caller = buyer) => shop.as(caller).get(`/api/shipping/order/${orderId}`)
  }
}
type Group = NewOrderShipments['groups'][number]
const inTheShop = {
  id: 'shop',
  method: 'pickup',
  provider: null,
  service: 'In the shop',
  estimatedDays: null
} as const
const estimatedDays = { min: 2, max: 4 }
const post: Group = {
  key: 'goods',
  lines: [{ line: 1, quantity: 3 }],
  option: { id: 'post', method: 'shipping', provider: 'Parcel Post', service: 'Standard', estimatedDays }
}
const pickup: Group = { key: 'heavy', lines: [{ line: 2, quantity: 1 }], option: inTheShop }
const email: Group = {
  key: 'digital',
  lines: [{ line: 3, quantity: 1 }],
  option: { ...inTheShop, method: 'digital' }
}

test('an order has one shipment for each group that is shipped or picked up', async () => {
  const { shop, buyer, open, read } = await useShipments()
  const orderId = newId()
  await open({ orderId, customerId: buyer.id, groups: [post, pickup, email] })
  const { status, json } = await read(orderId)
  const waits = {
    status: 'pending',
    carrier: null,
    tracking_number: null,
    tracking_url: null,
    estimated_delivery: null,
    sent_at: null,
    metadata: {},
    events: [],
    created_at: expect.any(String),
    updated_at: expect.any(String)
  }
  expect([status, json.order_id]).toEqual([200, orderId])
  expect(json.items).toHaveLength(2)
  expect(json.items).toEqual(
    expect.arrayContaining([
      {
        id: expect.any(String),
        ...waits,
        method: 'shipping',
        provider: 'Parcel Post',
        service: 'Standard',
        estimated_days: { min: 2, max: 4 },
        lines: [{ line: 1, quantity: 3 }]
      },
      {
        id: expect.any(String),
        ...waits,
        method: 'pickup',
        provider: null,
        service: 'In the shop',
        estimated_days: null,
        lines: [{ line: 2, quantity: 1 }]
      }
    ])
  )
  const { statements } = await shop.record(() => read(orderId))
  expect(statements).toEqual(['shipping.list_shipments_of_order'])
})

test('shipments are created in the transaction of the order, in one statement, with ids derived from the order', async () => {
  const { shop, buyer, open, read } = await useShipments()
  const order = { orderId: newId(), customerId: buyer.id, groups: [post, pickup] }
  const api = shop.apiOf(shippingModule) as ShippingApi
  const broken = shop.db.transaction(async tx => {
    await api.createShipments(tx, order)
    throw new Error('no order')
  })
  await expect(broken).rejects.toThrow('no order')
  expect((await read(order.orderId)).status).toBe(404)
  const { statements } = await shop.record(() => open(order))
  expect(statements).toEqual(['shipping.insert_shipments'])
  // Existing shipments stay as they are.
  const before = (await read(order.orderId)).json
  await open({ ...order, groups: [{ ...post, lines: [] }, pickup] })
  expect((await read(order.orderId)).json).toEqual(before)
})

test("shipments of another buyer's order, or of an order without any, are not found, as for an unknown order", async () => {
  const { shop, buyer, open, read } = await useShipments()
  const [own, ofGuest, digital] = [newId(), newId(), newId()]
  await open({ orderId: own, customerId: buyer.id, groups: [post] })
  await open({ orderId: ofGuest, customerId: null, groups: [post] })
  const { statements } = await shop.record(() =>
    open({ orderId: digital, customerId: buyer.id, groups: [email] })
  )
  expect(statements).toEqual([])
  const bodyOf = async (orderId: string, caller?: typeof buyer) => {
    const { status, json } = await read(orderId, caller)
    const { request_id: _, ...body } = json
    return [status, body]
  }
  const absent = await bodyOf(newId())
  expect(absent).toMatchObject([404, { code: 'SHIPPING_SHIPMENTS_NOT_FOUND' }])
  expect(await bodyOf(own, customer())).toEqual(absent)
  expect(await bodyOf(ofGuest)).toEqual(absent)
  expect(await bodyOf(digital)).toEqual(absent)
  expect((await read(own, { id: '', token: 'none' })).status).toBe(401)
  expect((await read('7')).status).toBe(400)
})
