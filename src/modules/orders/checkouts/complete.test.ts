import { expect, test } from 'vitest'
import { codesOf, itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'

shareShops()

type Shop = Awaited<ReturnType<typeof useOrders>>

/** A customer with a checkout. */
async function begin(shop: Shop, body: object = sent(shop.mug)) {
  const caller = customer()
  const buyer = shop.as(caller)
  const { status, json, text } = await buyer.post('/api/checkouts', body)
  expect(status, text).toBe(201)
  const path = `/api/checkouts/${json.id}`
  return {
    caller,
    buyer,
    path,
    checkout: json,
    read: async () => (await buyer.get(path)).json,
    complete: (said: object = {}, headers = {}) => buyer.post(`${path}/complete`, said, headers)
  }
}

test('a checkout becomes an order, and shows the id and state of the order', async () => {
  const shop = await useOrders()
  const { checkout, complete, read, buyer, path } = await begin(shop)
  expect(checkout).toMatchObject({ status: 'open', order_id: null })
  const { status, json, text } = await complete({ payment: TRANSFER })
  expect(status, text).toBe(201)
  expect(json).toMatchObject({ status: 'pending', total: checkout.total, shipping_address: STOCKHOLM })
  expect(await read()).toMatchObject({ status: 'action_required', order_id: json.id, ready: false })
  const again = await complete()
  expect([again.status, again.json]).toEqual([200, json])

  for (const refused of [await buyer.put(path, sent(shop.mug)), await buyer.post(`${path}/cancel`)])
    expect([refused.status, refused.json.code, refused.json.order_id]).toEqual([
      409,
      'CHECKOUT_COMPLETED',
      json.id
    ])
  await shop.pay(json.id)
  expect(await read()).toMatchObject({ status: 'completed', order_id: json.id })
})

test('a guest completes a checkout with its token, and gets the token of the order', async () => {
  const shop = await useOrders()
  const { json: checkout } = await shop.anonymous.post('/api/checkouts/guest', {
    ...sent(shop.mug),
    email: 'ada@example.com'
  })
  const path = `/api/checkouts/guest/${checkout.id}`
  const complete = (token: string) =>
    shop.anonymous.post(`${path}/complete`, {}, { 'x-checkout-token': token })
  const { status, json } = await complete(checkout.checkout_token)
  expect([status, json.email, json.customer_id]).toEqual([201, 'ada@example.com', null])
  const token = { 'x-order-token': json.order_token }
  expect((await shop.anonymous.get(`/api/orders/guest/${json.id}`, undefined, token)).status).toBe(200)
  const again = await complete(checkout.checkout_token)
  expect([again.status, again.json]).toEqual([200, json])
  const other = await shop.anonymous.post('/api/checkouts/guest', sent(shop.mug))
  for (const wrong of [other.json.checkout_token, json.order_token, ''])
    expect((await complete(wrong)).json.code).toBe('CHECKOUT_NOT_FOUND')
})

test('completing a checkout at a changed price is rejected, unless the buyer sends the new total', async () => {
  const shop = await useOrders()
  const { complete, read } = await begin(shop)
  await shop.admin.patch(`/api/catalog/variants/${shop.mug}`, { price: 1_200 })
  const refused = await complete()
  expect([refused.status, refused.json.code, refused.json.quote.total]).toEqual([
    409,
    'ORDER_PRICE_CHANGED',
    1_690
  ])
  expect((await complete({ expected_total: 1_490 })).json.code).toBe('ORDER_PRICE_CHANGED')
  expect(await read()).toMatchObject({ status: 'open', order_id: null })
  const { status, json } = await complete({ expected_total: 1_690 })
  expect([status, json.total]).toEqual([201, 1_690])
})

test('the errors of completing a checkout name the same missing fields as its findings', async () => {
  const shop = await useOrders()
  const { complete, checkout } = await begin(shop, {
    items: [itemOf(shop.mug)],
    shipping_address: { country: 'SE' }
  })
  expect(codesOf(checkout)).toContain('ADDRESS_INVALID')
  const { status, json } = await complete()
  expect([status, json.code]).toEqual([400, 'ORDER_INCOMPLETE'])
  expect(json.errors.map(({ path }: { path: string }) => path)).toContain('shipping_address/name')
})

test('completing a checkout of a cart orders and empties the shown cart version, or orders nothing', async () => {
  const shop = await useOrders()
  const { buyer } = await shop.withCart(itemOf(shop.mug, 2))
  const body = { cart: true, shipping_address: STOCKHOLM }
  const checkout = async () => (await buyer.post('/api/checkouts', body)).json.id as string
  const [first, second] = [await checkout(), await checkout()]
  await buyer.post('/api/cart', itemOf(shop.mug, 1))
  const late = await buyer.post(`/api/checkouts/${first}/complete`, {})
  expect([late.status, late.json.code]).toEqual([409, 'CART_CHANGED'])
  await buyer.put(`/api/checkouts/${second}`, body)
  const { status, json } = await buyer.post(`/api/checkouts/${second}/complete`, {})
  expect([status, json.items[0].quantity]).toEqual([201, 3])
  expect((await buyer.get('/api/cart')).json.items).toEqual([])
  expect(codesOf((await buyer.get(`/api/checkouts/${second}`)).json)).not.toContain('CART_CHANGED')
})

test('an expired, canceled or changed checkout cannot be completed', async () => {
  const shop = await useOrders()
  const [expired, canceled, changed] = [await begin(shop), await begin(shop), await begin(shop)]
  await shop.sql(`update orders.checkouts set expires_at = now() where id = $1`, [expired.checkout.id])
  await canceled.buyer.post(`${canceled.path}/cancel`)
  await changed.buyer.put(changed.path, sent(shop.mug, 2))
  expect((await expired.complete()).json.code).toBe('CHECKOUT_EXPIRED')
  expect((await canceled.complete()).json.code).toBe('CHECKOUT_CANCELED')
  const stale = await changed.complete({}, { 'if-match': '"1"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'CHECKOUT_STALE'])
  expect((await changed.complete({}, { 'if-match': '"2"' })).status).toBe(201)
  expect(await shop.orders()).toHaveLength(1)
})

test('a checkout is open again after its order is canceled, and can be completed again', async () => {
  const shop = await useOrders()
  const { complete, read } = await begin(shop)
  const { json: first } = await complete()
  await shop.sql(`update orders.orders set state = 'canceled' where id = $1`, [first.id])
  expect(await read()).toMatchObject({ status: 'open', order_id: null, ready: true })
  const { status, json } = await complete()
  expect([status, json.id === first.id]).toEqual([201, false])
})

test('8 concurrent completions and changes of a checkout create one order at most, from the input before it', async () => {
  const shop = await useOrders()
  const { path, buyer, complete, read } = await begin(shop)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      index === 3 ? buyer.put(path, sent(shop.mug, 3)) : complete({}, { 'idempotency-key': `${index}` })
    )
  )
  expect(answers.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1)
  for (const { json } of answers.filter(({ status }) => status >= 300))
    expect(['CHECKOUT_CHANGED', 'CHECKOUT_COMPLETED']).toContain(json.code)
  const { json } = await complete()
  const [order, ...others] = await shop.orders()
  expect([order?.id, others]).toEqual([json.id, []])
  for (const { json: told } of answers.filter(each => each.status < 300 && each.json.number))
    expect(told.id).toBe(json.id)
  expect((await read()).items[0].quantity).toBe(json.items[0].quantity)
})
