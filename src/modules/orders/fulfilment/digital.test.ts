import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { useOrders } from '../../../../test/support/orders.ts'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'

shareShops()

const CARD = { provider: 'sandbox', method: 'card' }

/** A shop with ten units of a song, and an order of two songs and a mug. */
async function useSongs(options: Parameters<typeof usePaidOrders>[0] = {}) {
  const shop = await usePaidOrders(options)
  const song = await shop.sell({ requires_shipping: false })
  await shop.stock(song, 10)
  const items = [itemOf(song, 2), itemOf(shop.mug)]
  const { status, text, json } = await shop.buyer.post('/api/orders', {
    items,
    shipping_address: STOCKHOLM,
    payment: CARD
  })
  expect(status, text).toBe(201)
  const onHand = async () =>
    (await shop.sql('select on_hand::int from inventory.levels where item_id = $1', [song]))[0]?.on_hand
  return { ...shop, song, onHand, id: json.id as string }
}
const DELIVERED = {
  items: [{ fulfilled: 2 }, { fulfilled: 0 }],
  shipments: [{ lines: [{ line: 1, quantity: 2 }], carrier: null }]
}
const NOT_DELIVERED = { items: [{ fulfilled: 0 }, { fulfilled: 0 }], shipments: [] }
const actionsOf = ({ history }: { history: { action: string }[] }) => history.map(({ action }) => action)

test('digital units are delivered once when the order is paid, and its other units wait', async () => {
  const shop = await useSongs()
  await shop.act(shop.id, 'pay')
  await Promise.all(Array.from({ length: 8 }, () => shop.callBack(shop.id)))
  const order = await shop.becomes(shop.id, { ...DELIVERED, status: 'paid', fulfillment_status: 'none' })
  await shop.settled()
  expect(actionsOf(await shop.read(shop.id))).toEqual(['create', 'place', 'fulfil'])
  expect(order.shipments).toHaveLength(1)
  await expect.poll(shop.onHand).toBe(8)
  expect(await shop.reserved(shop.song)).toEqual([])
  expect(await shop.reserved(shop.mug)).toMatchObject([{ state: 'confirmed', quantity: 1 }])
  // Units were delivered, so only an administrator can cancel the rest.
  const { json } = await shop.buyer.post(`/api/orders/${shop.id}/cancel`)
  expect([json.code, json.reason]).toEqual(['ORDER_NOT_CANCELABLE', 'shipped'])
  expect((await shop.does(shop.id, 'shipments')).shipments[1].lines).toEqual([{ line: 2, quantity: 1 }])
})

test('digital units of a held order are delivered after its release', async () => {
  const shop = await useSongs()
  await shop.does(shop.id, 'transition', { action: 'hold' })
  await shop.pay(shop.id)
  expect(await shop.read(shop.id)).toMatchObject(NOT_DELIVERED)
  expect(await shop.does(shop.id, 'transition', { action: 'release' })).toMatchObject(DELIVERED)
  await expect.poll(shop.onHand).toBe(8)
})

test('digital units of an authorized order are delivered with the first shipment, which captures', async () => {
  const shop = await useSongs({ capture: 'manual' })
  await shop.act(shop.id, 'pay')
  await shop.callBack(shop.id)
  expect(await shop.becomes(shop.id, { payment_status: 'authorized' })).toMatchObject(NOT_DELIVERED)
  await shop.does(shop.id, 'shipments', { lines: [{ line: 2, quantity: 1 }] })
  await shop.settled()
  const { shipments } = await shop.becomes(shop.id, { payment_status: 'paid', status: 'shipped' })
  expect(shipments.map(({ lines }: { lines: object }) => lines)).toEqual([
    [{ line: 2, quantity: 1 }],
    [{ line: 1, quantity: 2 }]
  ])
})

test('digital units of an order on account are delivered immediately, and canceled ones are not', async () => {
  const methods = '["bank_transfer","on_account"]'
  const shop = await useOrders({ settings: { CARTWRIGHT__PAYMENTS__MANUAL_METHODS: methods } })
  const [song, gift] = [
    await shop.sell({ requires_shipping: false }),
    await shop.sell({ requires_shipping: false, price: 0 })
  ]
  const buyer = shop.as(customer())
  const order = async (id: string, method: string) => {
    const payment = { provider: 'manual', method }
    return (await buyer.post('/api/orders', { items: [itemOf(id)], payment })).json
  }
  const delivered = { items: [{ fulfilled: 1 }], shipments: [{ lines: [{ line: 1, quantity: 1 }] }] }
  expect(await order(song, 'on_account')).toMatchObject({ ...delivered, payment_status: 'unpaid' })
  expect(await order(gift, 'bank_transfer')).toMatchObject({ ...delivered, status: 'paid' })
  const { id, items } = await order(song, 'bank_transfer')
  expect(items).toMatchObject([{ fulfilled: 0 }])
  await buyer.post(`/api/orders/${id}/cancel`)
  const { json } = await buyer.get(`/api/orders/${id}`)
  expect(json).toMatchObject({ status: 'canceled', items: [{ canceled: 1, fulfilled: 0 }], shipments: [] })
})
