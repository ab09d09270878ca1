import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { sent, useOrders } from '../../../../test/support/orders.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'

shareShops()

test('an order created from items has their lines and amounts', async () => {
  needsOwnShop()
  const shop = await useOrders()
  const pot = await shop.sell({ sku: 'POT', price: 1_200 })
  const caller = customer()
  const buyer = shop.as(caller)
  const { status, json, headers, text } = await buyer.post('/api/orders', {
    ...sent(pot, 2),
    billing_address: { ...STOCKHOLM, company: 'Engines AB' },
    note: 'The back door'
  })
  expect(status, text).toBe(201)
  expect(headers.etag).toBe('"1"')
  expect(json).toMatchObject({
    customer_id: caller.id,
    email: null,
    market: 'default',
    currency: 'USD',
    terms: 'prepaid',
    status: 'pending',
    payment_status: 'unpaid',
    fulfillment_status: 'none',
    placed_at: null,
    version: 1,
    subtotal: 2_400,
    discount_total: 0,
    shipping_total: 490,
    tax_total: 0,
    total: 2_890,
    shipping_address: STOCKHOLM,
    note: 'The back door',
    next_actions: ['pay', 'cancel']
  })
  expect(json.billing_address.company).toBe('Engines AB')
  expect(json.number).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
  expect(json.items).toMatchObject([
    {
      id: 1,
      variant_id: pot,
      sku: 'POT',
      quantity: 2,
      canceled: 0,
      fulfilled: 0,
      returned: 0,
      line_total: 2_400
    }
  ])
  expect(json.groups).toMatchObject([
    { id: 'goods', method: 'shipping', shipping: 490, shipping_option: { service: 'Standard' } }
  ])
  expect(json.components).toMatchObject([
    { kind: 'item', item: 1, group: null, amount: 2_400, included: false },
    { kind: 'shipping', item: null, group: 'goods', amount: 490 }
  ])
  expect(json.history).toEqual([{ action: 'create', from: null, to: 'pending', at: json.created_at }])
  const read = await buyer.get(`/api/orders/${json.id}`)
  expect([read.json, read.headers.etag]).toEqual([json, '"1"'])
})

test('an order keeps its product data when the catalog changes', async () => {
  const shop = await useOrders()
  const buyer = shop.as(customer())
  const { json } = await buyer.post('/api/orders', sent(shop.mug))
  const [item] = json.items
  await shop.admin.patch(`/api/catalog/variants/${shop.mug}`, { price: 9_900, sku: 'OTHER' })
  await shop.admin.patch(`/api/catalog/products/${item.product_id}`, { name: 'Something else', slug: 'else' })
  expect((await buyer.get(`/api/orders/${json.id}`)).json).toEqual(json)
})

test('an order of a cart empties the cart, and is created once', async () => {
  const shop = await useOrders()
  const { buyer, id } = await shop.withCart(itemOf(shop.mug, 3))
  const { status, json } = await buyer.post('/api/orders', { shipping_address: STOCKHOLM })
  expect([status, json.total]).toEqual([201, 3_490])
  expect((await buyer.get('/api/cart')).json.items).toEqual([])
  const again = await buyer.post('/api/orders', { shipping_address: STOCKHOLM })
  expect([again.status, again.json.code]).toEqual([409, 'CART_EMPTY'])
  expect(await shop.orders()).toMatchObject([{ cart_id: id, cart_version: 1, checkout_id: null }])
  await buyer.post('/api/cart', itemOf(shop.mug))
  expect((await buyer.post('/api/orders', { shipping_address: STOCKHOLM })).status).toBe(201)
})

test('the same idempotency key returns the same order, and the same items without a key are two orders', async () => {
  const shop = await useOrders()
  const buyer = shop.as(customer())
  const keyed = (key: string) => buyer.post('/api/orders', sent(shop.mug), { 'idempotency-key': key })
  const [first, second] = [await keyed('a-key'), await keyed('a-key')]
  expect([second.status, second.text]).toEqual([201, first.text])
  expect(second.headers['idempotency-replayed']).toBe('true')
  expect((await buyer.post('/api/orders', sent(shop.mug))).json.id).not.toBe(first.json.id)
  expect(await shop.orders()).toHaveLength(2)
})

test('customers list their own orders in pages, newest first', async () => {
  const shop = await useOrders({ settings: { CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '10' } })
  const buyer = shop.as(customer())
  const made = []
  for (const quantity of [1, 2, 3])
    made.unshift((await buyer.post('/api/orders', sent(shop.mug, quantity))).json)
  await shop.as(customer()).post('/api/orders', sent(shop.mug))
  const { json: first } = await buyer.get('/api/orders?limit=2&count=true')
  expect(first.total).toBe(3)
  const { json: second } = await buyer.get(`/api/orders?limit=2&cursor=${first.next_cursor}`)
  expect(second.next_cursor).toBeNull()
  const listed = [...first.items, ...second.items]
  expect(listed.map(({ id }) => id)).toEqual(made.map(({ id }) => id))
  expect(listed.map(({ quantity }) => quantity)).toEqual([3, 2, 1])
  expect(listed[0]).toMatchObject({ number: made[0].number, status: 'pending', total: 3_490 })
})

test('orders of digital products or with pickup need no address', async () => {
  const shop = await useOrders()
  const song = await shop.sell({ requires_shipping: false, price: 300 })
  const buyer = shop.as(customer())
  const { json: digital } = await buyer.post('/api/orders', { items: [itemOf(song)] })
  expect(digital).toMatchObject({ total: 300, fulfillment_status: 'not_required' })
  expect(digital.groups).toMatchObject([{ method: 'digital', shipping_option: null }])
  const { json: rates } = await buyer.post('/api/checkouts', sent(shop.mug))
  const pickup = rates.groups[0].options.find(({ method }: { method: string }) => method === 'pickup')
  const { status, json } = await buyer.post('/api/orders', {
    items: [itemOf(shop.mug)],
    shipping_option: pickup.id
  })
  expect([status, json.total, json.groups[0].method]).toEqual([201, 1_000, 'pickup'])
})

test('the market in the body of an order takes precedence over the market of the request', async () => {
  const shop = await useOrders()
  await shop.made('markets', {
    code: 'se',
    name: 'Sweden',
    countries: ['SE'],
    currency: 'USD',
    locale: 'sv-SE',
    prices_include_tax: true,
    exclusive: false
  })
  const buyer = shop.as(customer())
  const market = async (path: string, body: object) => {
    const { json } = await buyer.post(path, { ...sent(shop.mug), ...body })
    return json.market ?? json.code
  }
  expect(await market('/api/orders', {})).toBe('se')
  expect(await market('/api/orders?market=default', {})).toBe('default')
  expect(await market('/api/orders?market=default', { market: 'se' })).toBe('se')
  expect(await market('/api/orders', { market: 'none' })).toBe('PRICING_MARKET_UNKNOWN')
})
