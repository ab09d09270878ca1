import { expect, test } from 'vitest'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

shareShops()

type Answer = { status: number; json: object }
const withToken = (token: string) => ({ 'x-order-token': token })
const absent = [
  404,
  {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    code: 'ORDER_NOT_FOUND',
    detail: 'The order does not exist.'
  }
]
const told = ({ status, json }: Answer) => {
  const { request_id: _, ...body } = json as { request_id?: string }
  return [status, body]
}

/** A shop in which guests order and customers claim orders. */
async function useGuestOrders(options: Parameters<typeof useOrders>[0] = {}) {
  const shop = await useOrders(options)
  const claim = (caller: { token: string }, id: string, token = '', headers = {}) =>
    shop.as(caller).post(`/api/orders/${id}/claim`, undefined, { ...withToken(token), ...headers })
  return {
    ...shop,
    claim,
    order: async (fields: object = {}) => {
      const body = { ...sent(shop.mug), email: `${newId()}@example.com`, ...fields }
      const { status, json, text } = await shop.anonymous.post('/api/orders/guest', body)
      expect(status, text).toBe(201)
      return json as { id: string; order_token: string; email: string; version: number }
    },
    guest: (id: string, token: string) =>
      shop.anonymous.get(`/api/orders/guest/${id}`, undefined, withToken(token))
  }
}

test('a customer with the order token claims a guest order with its payments and shipments', async () => {
  const { as, anonymous, claim, order, guest, pay } = await useGuestOrders()
  const ada = customer()
  const own = as(ada)
  const { id, order_token, email } = await order({ payment: TRANSFER })
  const before = (await guest(id, order_token)).json
  expect(before.next_actions).toContain('claim')
  expect((await own.get(`/api/orders/${id}`)).status).toBe(404)

  const { status, json, headers } = await claim(ada, id, order_token)
  expect([status, json]).toMatchObject([
    200,
    { id, customer_id: ada.id, email, next_actions: ['pay', 'cancel'] }
  ])
  expect(json.history.map(({ action }: { action: string }) => action)).toEqual(['create', 'claim'])
  expect([json.version, headers.etag]).toEqual([before.version + 1, `"${before.version + 1}"`])
  expect((await own.get('/api/orders?count=true')).json).toMatchObject({ items: [{ id }], total: 1 })
  expect((await own.get(`/api/payments/by-order/${id}`)).json.items).toMatchObject([{ order_id: id }])
  expect((await own.get('/api/payments')).json.items).toHaveLength(1)
  expect((await own.get(`/api/shipping/order/${id}`)).json.items).toMatchObject([{ status: 'pending' }])

  // The guest's order token is invalid now.
  expect(told(await guest(id, order_token))).toEqual(absent)
  const key = withToken(order_token)
  const asked = [
    await anonymous.post(`/api/orders/guest/${id}/cancel`, undefined, key),
    await anonymous.get(`/api/payments/guest/by-order/${id}`, undefined, key),
    await anonymous.post('/api/payments/guest/intent', { order_id: id, ...TRANSFER }, key)
  ]
  expect(asked.map(answer => answer.status)).toEqual([404, 404, 404])

  expect((await claim(ada, id, order_token)).json).toEqual(json)
  expect((await claim(ada, id)).json).toEqual(json)
  expect((await own.post('/api/payments/intent', { order_id: id, ...TRANSFER })).status).toBe(201)
  await pay(id)
  expect((await own.get(`/api/orders/${id}`)).json).toMatchObject({ status: 'paid' })
  expect((await own.post(`/api/orders/${id}/cancel`)).json).toMatchObject({ status: 'canceled' })
})

test('a claim without the order token returns 404 and changes nothing', async () => {
  const shop = await useGuestOrders()
  const { claim, order } = shop
  const [ada, eve] = [customer(), customer()]
  const [one, other] = [await order(), await order()]
  const ofAda = (await shop.as(ada).post('/api/orders', sent(shop.mug))).json
  const claimed = await order()
  expect((await claim(ada, claimed.id, claimed.order_token)).status).toBe(200)
  const right = one.order_token
  const wrong = [
    '',
    right.slice(0, -1),
    `${right}A`,
    right.toUpperCase(),
    right.slice(4),
    one.id,
    'ort_test.'
  ]
  const before = await shop.orders()
  const answers = [
    ...(await Promise.all([...wrong, other.order_token].map(token => claim(eve, one.id, token)))),
    await claim(eve, ofAda.id),
    await claim(eve, ofAda.id, right),
    await claim(eve, claimed.id, claimed.order_token),
    await claim(eve, newId(), right)
  ]
  for (const answer of answers) expect(told(answer)).toEqual(absent)
  const anonymousClaim = await shop.anonymous.post(`/api/orders/${one.id}/claim`, undefined, withToken(right))
  expect(anonymousClaim.status).toBe(401)
  const stale = await claim(eve, one.id, right, { 'if-match': `"${one.version + 1}"` })
  expect([stale.status, stale.json.code]).toEqual([412, 'ORDER_STALE'])
  expect(await shop.orders()).toEqual(before)
  expect(shop.log.join('')).not.toContain(right.slice(-20))
})

test('of concurrent claims with one token, one customer gets the order', async () => {
  needsOwnShop()
  const { as, claim, order, sql } = await useGuestOrders()
  const { id, order_token } = await order({ payment: TRANSFER })
  const callers = [customer(), customer(), customer()]
  const answers = await Promise.all(
    [...callers, ...callers].map(async caller => ({ caller, ...(await claim(caller, id, order_token)) }))
  )
  const winners = new Set(answers.filter(({ status }) => status === 200).map(({ caller }) => caller.id))
  const [winner = ''] = winners
  expect(winners.size).toBe(1)
  for (const answer of answers.filter(({ caller }) => caller.id !== winner))
    expect(told(answer)).toEqual(absent)
  expect(
    await sql(
      `select o.customer_id as of_order, o.token_version, a.customer_id as of_account, a.token_version as version,
         p.customer_id as of_payment, s.customer_id as of_shipment,
         (select count(*)::int from orders.history where action = 'claim') as claims
       from orders.orders o join payments.accounts a on a.order_id = o.id join payments.payments p on p.order_id = o.id
         join shipping.shipments s on s.order_id = o.id`
    )
  ).toEqual([
    {
      of_order: winner,
      of_account: winner,
      of_payment: winner,
      of_shipment: winner,
      token_version: 2,
      version: 2,
      claims: 1
    }
  ])
  const lists = await Promise.all(
    callers.map(async caller => (await as(caller).get('/api/orders')).json.items)
  )
  expect(lists.flat()).toHaveLength(1)
})

test('an order can be claimed without payments and shipping', async () => {
  const { as, claim, order, guest } = await useGuestOrders({ off: ['payments', 'shipping'] })
  const ada = customer()
  const { id, order_token } = await order()
  expect((await claim(ada, id, order_token)).json).toMatchObject({ customer_id: ada.id })
  expect((await as(ada).get(`/api/orders/${id}`)).json).toMatchObject({ id })
  expect((await guest(id, order_token)).status).toBe(404)
  expect((await claim(customer(), id, order_token)).status).toBe(404)
})
