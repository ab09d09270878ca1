import { expect, test } from 'vitest'
import { itemOf } from '../../../../test/support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

const PATH = '/api/admin/orders'
const MANUAL = {
  CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '["bank_transfer","cash_on_delivery","on_account"]'
}

test('an administrator creates an order that a customer owns, at the prices of the shop', async () => {
  const { as, admin, mug, stock, reserved, pay, sql } = await useOrders()
  await stock(mug, 2)
  const ada = customer()
  const own = as(ada)
  const body = { ...sent(mug, 2), customer_id: ada.id, payment: TRANSFER, note: 'By telephone' }
  const key = { 'idempotency-key': 'ordered-by-telephone' }
  const { status, json, headers } = await admin.post(PATH, body, key)
  expect([status, json]).toMatchObject([
    201,
    {
      customer_id: ada.id,
      order_token: null,
      total: 2_490,
      status: 'pending',
      note: 'By telephone',
      items: [{ variant_id: mug, quantity: 2 }],
      history: [{ action: 'create', actor: expect.any(String) }]
    }
  ])
  expect(json.history[0].actor).not.toBe(ada.id)
  expect(headers.etag).toBe(`"${json.version}"`)
  // No paid order can take its units.
  expect(await reserved(mug)).toEqual([{ order_id: json.id, state: 'confirmed', quantity: 2 }])
  const again = await admin.post(PATH, body, key)
  expect([again.status, again.json]).toEqual([201, json])
  expect(await sql('select network from orders.orders')).toEqual([{ network: null }])
  expect(await sql('select actor::text, status from cartwright.audit where route = $1', [PATH])).toEqual([
    { actor: json.history[0].actor, status: 201 }
  ])

  expect((await own.get(`/api/orders/${json.id}`)).json).toMatchObject({ next_actions: ['pay', 'cancel'] })
  expect((await own.get(`/api/payments/by-order/${json.id}`)).json.items).toHaveLength(1)
  expect((await as(customer()).get(`/api/orders/${json.id}`)).status).toBe(404)
  await pay(json.id)
  expect((await own.get(`/api/orders/${json.id}`)).json).toMatchObject({ status: 'paid' })
})

test('a guest order created by an administrator returns its token, and is placed immediately if it is paid later', async () => {
  const { admin, anonymous, mug, sql } = await useOrders({ settings: MANUAL })
  const payment = { provider: 'manual', method: 'on_account' }
  const body = { ...sent(mug), email: 'ada@example.com', payment }
  const key = { 'idempotency-key': 'a-guest-at-the-till' }
  const { json } = await admin.post(PATH, body, key)
  expect(json).toMatchObject({ customer_id: null, email: 'ada@example.com', terms: 'on_account' })
  expect(json.placed_at).not.toBeNull()
  const guest = { 'x-order-token': json.order_token }
  expect((await anonymous.get(`/api/orders/guest/${json.id}`, undefined, guest)).status).toBe(200)
  expect((await admin.post(PATH, body, key)).json).toEqual(json)
  // The token is in no table.
  expect(
    await sql('select count(*)::int as kept from cartwright.idempotency_keys where answer is not null')
  ).toEqual([{ kept: 0 }])
})

test('an administrator cannot create an order that a buyer could not create', async () => {
  const shop = await useOrders({ settings: { CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '2' } })
  const { as, admin, mug, stock } = shop
  await stock(mug, 3)
  const ada = customer()
  const customer_id = ada.id
  const refused = async (body: object) => {
    const before = await shop.traces()
    const { status, json } = await admin.post(PATH, body)
    expect(await shop.traces()).toEqual(before)
    return [status, json.code, ...(json.errors ?? []).map(({ path }: { path: string }) => path)]
  }
  expect(await refused(sent(mug))).toEqual([400, 'ORDER_INCOMPLETE', 'body/email'])
  expect(await refused({ items: [itemOf(mug)], customer_id })).toEqual([
    ...[400, 'ORDER_INCOMPLETE', 'body/shipping_address']
  ])
  const { items: _, ...rest } = sent(mug)
  expect((await refused({ ...rest, customer_id })).slice(0, 2)).toEqual([400, 'VALIDATION_FAILED'])
  const priced = { ...sent(mug), items: [{ ...itemOf(mug), price: 1 }], customer_id }
  expect((await refused(priced)).slice(0, 2)).toEqual([400, 'VALIDATION_FAILED'])
  expect(await refused({ ...sent(mug), customer_id, expected_total: 1 })).toEqual([
    ...[409, 'ORDER_PRICE_CHANGED']
  ])
  expect(await refused({ ...sent(mug, 4), customer_id })).toEqual([409, 'INVENTORY_SHORT'])
  expect(await refused({ ...sent(mug), customer_id, codes: ['none'] })).toEqual([409, 'ORDER_CODE_REFUSED'])
  expect(await refused({ ...sent(mug), customer_id, payment: { provider: 'unknown' } })).toEqual([
    ...[404, 'PAYMENT_PROVIDER_UNKNOWN']
  ])
  for (const caller of [admin, as(ada)]) {
    const path = caller === admin ? PATH : '/api/orders'
    const body = { ...sent(mug), ...(caller === admin && { customer_id }) }
    expect((await caller.post(path, body)).status).toBe(201)
  }
  // They count together with the customer's own orders.
  expect(await refused({ ...sent(mug), customer_id })).toEqual([409, 'ORDER_PENDING_LIMIT'])
})
