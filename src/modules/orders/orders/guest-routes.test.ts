import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

shareShops()

const email = 'ada@example.com'
const withToken = (token: string) => ({ 'x-order-token': token })

test('a guest creates an order, and reads and pays it with the token of the response', async () => {
  const shop = await useOrders()
  const { status, json, text } = await shop.anonymous.post('/api/orders/guest', { ...sent(shop.mug), email })
  expect(status, text).toBe(201)
  const { order_token, ...order } = json
  expect(order).toMatchObject({ customer_id: null, email, total: 1_490, status: 'pending' })
  const token = withToken(order_token)
  expect((await shop.anonymous.get(`/api/orders/guest/${order.id}`, undefined, token)).json).toEqual(order)
  const intent = { order_id: order.id, ...TRANSFER }
  expect((await shop.anonymous.post('/api/payments/guest/intent', intent, token)).status).toBe(201)
  await shop.pay(order.id)
  const paid = await shop.anonymous.get(`/api/orders/guest/${order.id}`, undefined, token)
  expect(paid.json.status).toBe('paid')
})

test('a guest cart becomes one order, and a second order request for it returns the same order', async () => {
  const shop = await useOrders()
  const { json: cart } = await shop.anonymous.post('/api/guest-cart', itemOf(shop.mug, 2))
  const { guest_cart_token } = cart
  const order = (key: string) =>
    shop.anonymous.post(
      '/api/orders/guest',
      { guest_cart_token, email, shipping_address: STOCKHOLM },
      { 'idempotency-key': key }
    )
  const answers = await Promise.all(['the-first-of-all-keys', 'quite-another-key'].map(order))
  const told = answers.filter(({ json }) => json.code !== 'CART_EMPTY')
  expect(told.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(new Set(told.map(({ json }) => `${json.id} ${json.order_token}`)).size).toBe(1)
  const token = { 'x-guest-cart-token': guest_cart_token }
  expect((await shop.anonymous.get('/api/guest-cart', undefined, token)).json.items).toEqual([])
  expect((await order('and-a-third-one-of-them')).json.code).toBe('CART_EMPTY')
})

test('a retried guest order returns the same order token, which is in no table', async () => {
  const shop = await useOrders()
  const body = { ...sent(shop.mug), email }
  const order = () =>
    shop.anonymous.post('/api/orders/guest', body, { 'idempotency-key': 'the-answer-was-lost' })
  const [first, second] = [await order(), await order()]
  expect([second.status, second.json]).toEqual([201, first.json])
  expect(await shop.orders()).toHaveLength(1)
  const [keys] = await shop.sql(
    'select count(*)::int as kept from cartwright.idempotency_keys where answer is not null'
  )
  expect(keys).toEqual({ kept: 0 })
  expect(shop.log.join('')).not.toContain(first.json.order_token.slice(-20))
})

test('a guest order needs an e-mail address and items', async () => {
  const shop = await useOrders()
  const refused = async (body: object) => {
    const { status, json } = await shop.anonymous.post('/api/orders/guest', body)
    return [status, json.code]
  }
  expect(await refused(sent(shop.mug))).toEqual([400, 'VALIDATION_FAILED'])
  expect(await refused({ ...sent(shop.mug), email: 'not-an-address' })).toEqual([400, 'ORDER_INCOMPLETE'])
  expect(await refused({ email, shipping_address: STOCKHOLM })).toEqual([400, 'CHECKOUT_SOURCE_UNCLEAR'])
  expect(await refused({ email, guest_cart_token: 'gct_none' })).toEqual([404, 'CART_GUEST_NOT_FOUND'])
  expect(await shop.orders()).toEqual([])
})

test('code uses and unpaid orders of a guest count by e-mail address, which the pricing module never receives', async () => {
  const shop = await useOrders({ settings: { CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '2' } })
  const { id } = await shop.made('promotions', {
    name: 'Welcome',
    class: 'order',
    effect: { type: 'percentage', percentage_ppm: 100_000 },
    needs_code: true,
    uses_per_customer: 1
  })
  await shop.made(`promotions/${id}/codes`, { code: 'WELCOME' })
  const order = async (address: string, codes: string[] = []) => {
    const { status, json } = await shop.anonymous.post('/api/orders/guest', {
      ...sent(shop.mug),
      email: address,
      codes
    })
    return json.code ?? [status, json.discount_total]
  }
  expect(await order('ada@example.com', ['WELCOME'])).toEqual([201, 100])
  expect(await order('ADA@example.com', ['WELCOME'])).toBe('ORDER_CODE_REFUSED')
  expect(await order('ADA@example.com')).toEqual([201, 0])
  expect(await order('ada@example.com')).toBe('ORDER_PENDING_LIMIT')
  expect(await order('bob@example.com', ['WELCOME'])).toEqual([201, 100])
  for (const table of ['pricing.redemptions', 'pricing.customer_uses'])
    expect(JSON.stringify(await shop.sql(`select * from ${table}`)).toLowerCase()).not.toContain('example')
})

test('every order route returns 404 for an order of another buyer', async () => {
  const shop = await useOrders()
  const [ada, bob] = [customer(), customer()]
  const ofAda = (await shop.as(ada).post('/api/orders', sent(shop.mug))).json
  const guest = async () =>
    (await shop.anonymous.post('/api/orders/guest', { ...sent(shop.mug), email })).json
  const [one, other] = [await guest(), await guest()]
  const mine = (caller: { token: string }, id: string, token = '') =>
    shop.as(caller).get(`/api/orders/${id}`, undefined, withToken(token))
  const guests = (id: string, token: string) =>
    shop.anonymous.get(`/api/orders/guest/${id}`, undefined, withToken(token))
  const answers = [
    await mine(bob, ofAda.id),
    await mine(bob, one.id, one.order_token),
    await mine(bob, newId()),
    await guests(ofAda.id, one.order_token),
    await guests(other.id, one.order_token),
    await guests(newId(), one.order_token),
    ...(await Promise.all(
      [
        '',
        one.id,
        one.order_token.slice(0, -1),
        `${one.order_token}A`,
        one.order_token.slice(4),
        'ort_test.'
      ].map(text => guests(one.id, text))
    )),
    await shop.anonymous.get(`/api/orders/guest/${one.id}`)
  ]
  for (const { status, json } of answers) {
    const { request_id: _, ...body } = json
    expect([status, body]).toEqual([
      404,
      {
        type: 'about:blank',
        title: 'Not Found',
        status: 404,
        code: 'ORDER_NOT_FOUND',
        detail: 'The order does not exist.'
      }
    ])
  }
  expect((await shop.as(bob).get('/api/orders?count=true')).json).toMatchObject({ items: [], total: 0 })
  expect((await shop.anonymous.get(`/api/orders/${ofAda.id}`)).status).toBe(401)
})
