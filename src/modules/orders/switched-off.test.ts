import { expect, test } from 'vitest'
import { codesOf, itemOf, STOCKHOLM, useCheckouts } from '../../../test/support/checkouts.ts'
import { useTestDatabaseUrl } from '../../../test/support/database.ts'
import { sent, TRANSFER, useOrders } from '../../../test/support/orders.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { newId } from '../../kernel/ids.ts'
import { customer } from '../../testing.ts'

shareShops()

/** A module that is switched off, in a shop on the database of all tests of this file. */
const without = async (name: string) => ({ off: [name], databaseUrl: await useTestDatabaseUrl() })

test('all routes of the disabled orders module report that it is disabled', async () => {
  const shop = await useShop({
    settings: { CARTWRIGHT__MODULES__ORDERS__ENABLED: 'false' },
    databaseUrl: await useTestDatabaseUrl()
  })
  const anonymous = shop.as(null)
  const answers = await Promise.all([
    anonymous.post('/api/checkouts', {}),
    anonymous.post('/api/checkouts/guest', {}),
    anonymous.get(`/api/checkouts/guest/${newId()}`),
    anonymous.get('/api/orders'),
    anonymous.post('/api/orders/guest', {})
  ])
  for (const { status, json } of answers)
    expect([status, json]).toEqual([503, { error: expect.stringContaining('modules.orders.enabled') }])
  expect((await anonymous.get('/api/products')).status).toBe(200)
})

test('without the shipping module, a checkout has no delivery price, and a finding reports it', async () => {
  const shop = await useCheckouts(await without('shipping'))
  const [mug, code] = [await shop.sell(), await shop.sell({ requires_shipping: false })]
  const buyer = shop.as(customer())
  const { json } = await buyer.post('/api/checkouts', { items: [itemOf(mug)], shipping_address: STOCKHOLM })
  expect(json).toMatchObject({ ready: true, total: 1_000, shipping_total: 0 })
  expect(json.groups).toMatchObject([{ method: 'shipping', shipping_option: null, options: [] }])
  expect(json.findings).toMatchObject([{ code: 'DELIVERY_NOT_INCLUDED', blocking: false }])
  const { json: nowhere } = await buyer.post('/api/checkouts', { items: [itemOf(mug)] })
  expect([nowhere.ready, codesOf(nowhere)]).toEqual([false, ['ADDRESS_MISSING', 'DELIVERY_NOT_INCLUDED']])
  const { json: digital } = await buyer.post('/api/checkouts', { items: [itemOf(code)] })
  expect(digital).toMatchObject({ ready: true, findings: [] })
})

test('without the inventory module, a checkout line can have its maximum quantity', async () => {
  const shop = await useCheckouts(await without('inventory'))
  await shop.usePost()
  const body = { items: [itemOf(await shop.sell(), 99)], shipping_address: STOCKHOLM }
  const { json } = await shop.as(customer()).post('/api/checkouts', body)
  expect(json).toMatchObject({ ready: true, findings: [] })
})

test('without the payments module, orders are on account: created, shipped, returned and completed without payment', async () => {
  const shop = await useOrders(await without('payments'))
  await shop.stock(shop.mug, 5)
  const buyer = shop.as(customer())
  const { json: order } = await buyer.post('/api/orders', sent(shop.mug, 2))
  expect(order).toMatchObject({ terms: 'on_account', payment_status: null, next_actions: ['cancel'] })
  const { status, json } = await buyer.post('/api/payments/intent', { order_id: order.id })
  expect([status, json]).toEqual([503, { error: expect.stringContaining('modules.payments.enabled') }])
  const does = async (what: string, body: object) =>
    (await shop.admin.post(`/api/admin/orders/${order.id}/${what}`, body)).json
  expect(await does('shipments', {})).toMatchObject({ status: 'shipped', fulfillment_status: 'fulfilled' })
  const one = { lines: [{ line: 1, quantity: 1 }] }
  expect((await does('returns', one)).fulfillment_status).toBe('partially_returned')
  expect((await does('refunds', { ...one, reason: 'chipped' })).adjustments).toMatchObject([
    { amount: 1_000, back: 0 }
  ])
  expect((await does('transition', { action: 'complete' })).status).toBe('completed')
})

test('without the inventory module, orders are created, paid, shipped and returned without stock', async () => {
  const shop = await useOrders(await without('inventory'))
  const buyer = shop.as(customer())
  const { json: order } = await buyer.post('/api/orders', { ...sent(shop.mug, 99), payment: TRANSFER })
  const { status, json } = await shop.admin.get(`/api/inventory/levels/${shop.mug}`)
  expect([status, json]).toEqual([503, { error: expect.stringContaining('modules.inventory.enabled') }])
  await shop.pay(order.id)
  const does = async (what: string, body: object) =>
    (await shop.admin.post(`/api/admin/orders/${order.id}/${what}`, body)).json
  expect((await does('shipments', {})).status).toBe('shipped')
  expect((await does('returns', { lines: [{ line: 1, quantity: 99 }] })).fulfillment_status).toBe('returned')
  const { json: other } = await buyer.post('/api/orders', { ...sent(shop.mug, 9), payment: TRANSFER })
  expect((await buyer.post(`/api/orders/${other.id}/cancel`)).json.status).toBe('canceled')
})

test('without the cart module, items can be ordered', async () => {
  const shop = await useCheckouts(await without('cart'))
  await shop.usePost()
  const buyer = shop.as(customer())
  const refused = [
    await buyer.post('/api/checkouts', { cart: true }),
    await shop.anonymous.post('/api/checkouts/guest', { guest_cart_token: 'gct_' })
  ]
  for (const { status, json } of refused) expect([status, json.code]).toEqual([409, 'CHECKOUT_CARTS_OFF'])
  const body = { items: [itemOf(await shop.sell(), 1_000_000)], shipping_address: STOCKHOLM }
  expect((await buyer.post('/api/checkouts', body)).json.ready).toBe(true)
})

test.each(['catalog', 'pricing'])('without the module %s, a shop with orders does not start', async name => {
  await expect(useCheckouts(await without(name))).rejects.toThrow(`module orders requires module ${name}`)
})
