import { expect, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { sent, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

const MANUAL = {
  CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '["bank_transfer","cash_on_delivery","on_account"]',
  CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '20'
}
const BY = (method: string) => ({ provider: 'manual', method })
const EXPIRY = 'orders.expire_orders'

/** A shop in which a customer orders first, and chooses the payment later. */
async function useLaterPaid() {
  const shop = await useOrders({ settings: MANUAL })
  await shop.stock(shop.mug, 100)
  const buyer = shop.as(customer())
  const later = (id: string, method = 'cash_on_delivery') =>
    buyer.post('/api/payments/intent', { order_id: id, ...BY(method) })
  const ofOrder = (id: string, action: string) =>
    shop.sql('select id from orders.history where order_id = $1 and action = $2', [id, action])
  return {
    ...shop,
    buyer,
    later,
    ofOrder,
    order: async (fields: object = {}): Promise<string> => {
      const { status, json, text } = await buyer.post('/api/orders', { ...sent(shop.mug), ...fields })
      expect(status, text).toBe(201)
      return json.id
    },
    read: async (id: string) => (await shop.admin.get(`/api/admin/orders/${id}`)).json,
    state: async (id: string) =>
      (await shop.sql('select state from orders.orders where id = $1', [id]))[0]?.state,
    /** Shifts all orders two hours into the past. */
    expire: async () => {
      await shop.sql(
        `update orders.orders set created_at = created_at - interval '2 hours', expires_at = null`
      )
      await shop.sql('update cartwright.jobs set due_at = now() where handler = $1 and lease is null', [
        EXPIRY
      ])
    },
    /** Waits for a full run of the expiry job. */
    swept: () => doOnceMore(shop, EXPIRY)
  }
}

test('an order whose buyer chooses to pay later is placed once, and never expires', async () => {
  const shop = await useLaterPaid()
  const cod = await shop.order()
  const onAccount = await shop.order({ payment: BY('bank_transfer') })
  expect(await shop.reserved(shop.mug)).toMatchObject([{ state: 'claimed' }, { state: 'claimed' }])
  // The transfer is voided first. A request meanwhile is told to retry.
  expect((await shop.later(onAccount, 'on_account')).status).toBe(201)
  for (const [id, method, terms] of [
    [cod, 'cash_on_delivery', 'cod'],
    [onAccount, 'on_account', 'on_account']
  ] as const) {
    const answers = await Promise.all([1, 2, 3].map(() => shop.later(id, method)))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1)
    expect((await shop.buyer.get(`/api/orders/${id}`)).json).toMatchObject({
      terms,
      status: 'pending',
      payment_status: 'unpaid',
      placed_at: expect.any(String),
      next_actions: ['pay', 'cancel']
    })
  }
  const claimed = [cod, onAccount].map(order_id => ({ order_id, state: 'claimed', quantity: 1 }))
  expect(await shop.reserved(shop.mug)).toEqual(claimed)
  await shop.expire()
  await shop.swept()
  expect(await Promise.all([cod, onAccount].map(shop.state))).toEqual(['placed', 'placed'])
  expect((await shop.read(cod)).next_actions).toContain('fulfil')
  await shop.pay(cod)
  expect(await shop.read(cod)).toMatchObject({ status: 'paid', payment_status: 'paid', terms: 'cod' })
  for (const id of [cod, onAccount]) expect(await shop.ofOrder(id, 'place')).toHaveLength(1)
})

test('an order that expires while its buyer chooses to pay later is either placed or canceled', async () => {
  const shop = await useLaterPaid()
  const ids = await Promise.all(Array.from({ length: 8 }, () => shop.order()))
  const [early = '', ...others] = ids
  await shop.later(early)
  await shop.expire()
  const answers = await Promise.all(others.map(id => shop.later(id)))
  await shop.swept()
  await shop.swept()
  for (const [index, id] of others.entries()) {
    const isPlaced = answers[index]?.status === 201
    if (!isPlaced) expect(answers[index]?.json.code).toBe('PAYMENT_ORDER_FROZEN')
    expect(await shop.state(id)).toBe(isPlaced ? 'placed' : 'canceled')
    expect(await shop.ofOrder(id, 'place')).toHaveLength(isPlaced ? 1 : 0)
    expect(await shop.ofOrder(id, 'confirm_cancel')).toHaveLength(isPlaced ? 0 : 1)
  }
  expect(await shop.state(early)).toBe('placed')
  const placed = [early, ...others.filter((_, index) => answers[index]?.status === 201)]
  await expect
    .poll(() => shop.reserved(shop.mug))
    .toEqual(placed.toSorted().map(order_id => ({ order_id, state: 'claimed', quantity: 1 })))
})

test('an order that is canceled while its buyer chooses to pay later releases its stock', async () => {
  const shop = await useLaterPaid()
  const ids = await Promise.all(Array.from({ length: 6 }, () => shop.order()))
  const answers = await Promise.all(
    ids.flatMap(id => [shop.later(id), shop.buyer.post(`/api/orders/${id}/cancel`)])
  )
  for (const { status, text } of answers) expect([200, 201, 202, 409], text).toContain(status)
  for (const id of ids) {
    await expect.poll(() => shop.state(id)).toBe('canceled')
    expect(await shop.ofOrder(id, 'confirm_cancel')).toHaveLength(1)
    expect((await shop.ofOrder(id, 'place')).length).toBeLessThanOrEqual(1)
    expect((await shop.later(id)).json.code).toBe('PAYMENT_ORDER_FROZEN')
  }
  await expect.poll(() => shop.reserved(shop.mug)).toEqual([])
  expect(await shop.sql('select id from payments.payments where is_open')).toEqual([])
})
