import { describe, expect, test } from 'vitest'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'

shareShops()

const actionsOf = ({ history }: { history: { action: string }[] }) => history.map(({ action }) => action)

describe('an unpaid order', () => {
  test('a canceled unpaid order releases its stock immediately', async () => {
    const shop = await useOrders()
    await shop.stock(shop.mug, 3)
    const { buyer } = await shop.withCart({ variant_id: shop.mug, quantity: 2 })
    const { items: _, ...rest } = sent(shop.mug)
    const { json } = await buyer.post('/api/orders', { ...rest, payment: TRANSFER })
    expect(json.next_actions).toEqual(['pay', 'cancel'])
    const canceled = await buyer.post(`/api/orders/${json.id}/cancel`)
    expect([canceled.status, canceled.json.status], canceled.text).toEqual([200, 'canceled'])
    expect(canceled.headers.etag).toBe(`"${canceled.json.version}"`)
    expect(canceled.json).toMatchObject({
      cancel_requested_at: null,
      next_actions: [],
      items: [{ quantity: 2, canceled: 2 }],
      adjustments: [{ kind: 'cancel', amount: json.total, back: 0 }]
    })
    expect(actionsOf(canceled.json)).toEqual(['create', 'cancel', 'confirm_cancel'])
    await expect.poll(() => shop.reserved(shop.mug)).toEqual([])
    expect((await buyer.get(`/api/orders/${json.id}`)).json).toEqual(canceled.json)
    // The buyer canceled the order, so the cart stays empty.
    expect((await buyer.get('/api/cart/count')).json.count).toBe(0)

    const again = await buyer.post(`/api/orders/${json.id}/cancel`)
    expect([again.status, again.json]).toEqual([200, canceled.json])
    const late = await buyer.post('/api/payments/intent', { order_id: json.id })
    expect([late.status, late.json.code]).toEqual([409, 'PAYMENT_ORDER_FROZEN'])
  })

  test('a canceled unpaid order releases its uses of promotions', async () => {
    const shop = await useOrders()
    const effect = { type: 'percentage', percentage_ppm: 100_000 }
    const once = { name: 'Once', class: 'order', effect, needs_code: true, uses_per_customer: 1 }
    const { id } = await shop.made('promotions', once)
    await shop.made(`promotions/${id}/codes`, { code: 'ONCE', uses_max: 1 })
    const buyer = shop.as(customer())
    const order = () => buyer.post('/api/orders', { ...sent(shop.mug), codes: ['ONCE'], payment: TRANSFER })
    const { json } = await order()
    expect((await order()).json.code).toBe('ORDER_CODE_REFUSED')
    expect((await buyer.post(`/api/orders/${json.id}/cancel`)).status).toBe(200)
    expect((await order()).status).toBe(201)
  })

  test('a guest cancels an unpaid order with its order token, and not without it', async () => {
    const shop = await useOrders()
    const body = { ...sent(shop.mug), email: 'ada@example.com' }
    const { json } = await shop.anonymous.post('/api/orders/guest', body)
    const cancel = (headers: Record<string, string>) =>
      shop.anonymous.post(`/api/orders/guest/${json.id}/cancel`, undefined, headers)
    expect((await cancel({})).json.code).toBe('ORDER_NOT_FOUND')
    expect((await cancel({ 'x-order-token': `${json.order_token}x` })).json.code).toBe('ORDER_NOT_FOUND')
    const { status, json: canceled } = await cancel({ 'x-order-token': json.order_token })
    expect([status, canceled.status, canceled.next_actions]).toEqual([200, 'canceled', ['claim']])
  })

  test('an unpaid order can be canceled while the payments module is disabled', async () => {
    const shop = await useOrders({ off: ['payments'] })
    await shop.stock(shop.mug, 1)
    const buyer = shop.as(customer())
    const { json } = await buyer.post('/api/orders', sent(shop.mug))
    const { status, json: canceled } = await buyer.post(`/api/orders/${json.id}/cancel`)
    expect([status, canceled.status, canceled.payment_status]).toEqual([200, 'canceled', null])
    await expect.poll(() => shop.reserved(shop.mug)).toEqual([])
  })
})

describe('a paid order', () => {
  test('a paid order is refunded when it is canceled', async () => {
    needsOwnShop()
    const shop = await usePaidOrders()
    const { id, total } = await shop.order()
    await shop.pay(id)
    const { status, json } = await shop.buyer.post(`/api/orders/${id}/cancel`)
    expect([status, json.status, json.payment_status]).toEqual([200, 'canceled', 'refunded'])
    expect(json.adjustments).toMatchObject([{ kind: 'cancel', amount: total, back: total }])
    expect(await shop.sandbox.objects()).toContainEqual(
      expect.objectContaining({ object: 'refund', amount: total, status: 'succeeded' })
    )
    await expect.poll(() => shop.reserved(shop.mug)).toEqual([])
  })

  test('the authorized payment of an order is voided when the order is canceled', async () => {
    needsOwnShop()
    const shop = await usePaidOrders({ capture: 'manual' })
    const { id } = await shop.order()
    await shop.pay(id)
    const { status, json } = await shop.buyer.post(`/api/orders/${id}/cancel`)
    expect([status, json.status, json.payment_status]).toEqual([200, 'canceled', 'unpaid'])
    expect(json.adjustments).toMatchObject([{ back: 0 }])
    expect(await shop.sandbox.objects()).toContainEqual(
      expect.objectContaining({ object: 'payment_intent', status: 'canceled' })
    )
  })

  test('an order whose payment is reported after its cancellation is refunded', async () => {
    const shop = await usePaidOrders()
    const { id, total } = await shop.order()
    await shop.act(id, 'pay')
    const { status, json } = await shop.buyer.post(`/api/orders/${id}/cancel`)
    expect(status, JSON.stringify(json)).toBeLessThan(300)
    await shop.settled()
    const order = await shop.becomes(id, { status: 'canceled', payment_status: 'refunded' })
    expect(order.adjustments).toMatchObject([{ amount: total, back: total }])
  })

  test('an order that is paid after its cancellation is refunded once', async () => {
    needsOwnShop()
    const shop = await usePaidOrders()
    const { id, total } = await shop.order()
    expect((await shop.buyer.post(`/api/orders/${id}/cancel`)).json.status).toBe('canceled')
    await shop.act(id, 'capture_late')
    for (let time = 0; time < 3; time += 1) expect(await shop.callBack(id)).toBe(200)
    await shop.becomes(id, { status: 'canceled', payment_status: 'refunded' })
    await shop.settled()
    const refunds = (await shop.sandbox.objects()).filter(({ object }) => object === 'refund')
    expect(refunds.map(({ amount }) => amount)).toEqual([total])
    expect((await shop.read(id)).adjustments).toMatchObject([
      { amount: total, back: 0 },
      { amount: 0, back: total }
    ])
  })
})

test('an order is neither canceled nor payable while the provider has not confirmed the void of its payment', async () => {
  const shop = await usePaidOrders({ capture: 'manual' })
  const { id } = await shop.order()
  await shop.pay(id)
  await shop.sandbox.fault('drop', 20)
  const first = await shop.buyer.post(`/api/orders/${id}/cancel`)
  expect([first.status, first.json.status]).toEqual([202, 'paid'])
  expect(first.json).toMatchObject({ cancel_requested_at: expect.any(String), next_actions: [] })
  expect(await shop.reserved(shop.mug)).toMatchObject([{ quantity: 2 }])
  const again = await shop.buyer.post(`/api/orders/${id}/cancel`)
  expect(again.status).toBe(202)
  expect(actionsOf(again.json).filter(action => action === 'cancel')).toHaveLength(1)
  expect((await shop.buyer.post('/api/payments/intent', { order_id: id })).json.code).toBe(
    'PAYMENT_ORDER_FROZEN'
  )
  const shipped = await shop.admin.post(`/api/admin/orders/${id}/shipments`, {})
  expect(shipped.json).toMatchObject({ code: 'ORDER_ACTION_REFUSED', reason: 'cancel_requested' })
  await shop.sandbox.fault(undefined as never)
  await shop.settled()
  await shop.becomes(id, { status: 'canceled', cancel_requested_at: null })
  expect((await shop.buyer.post(`/api/orders/${id}/cancel`)).status).toBe(200)
  await expect.poll(() => shop.reserved(shop.mug)).toEqual([])
})

describe('a cancellation is rejected', () => {
  test.each([
    ['never', 'policy'],
    ['unpaid', 'paid']
  ])(
    "where buyers may cancel %s orders, a buyer's cancellation of a paid order is rejected",
    async (policy, reason) => {
      const shop = await useOrders({ settings: { CARTWRIGHT__ORDERS__CUSTOMER_CANCEL: policy } })
      const buyer = shop.as(customer())
      const { json } = await buyer.post('/api/orders', { ...sent(shop.mug), payment: TRANSFER })
      await shop.pay(json.id)
      expect((await buyer.get(`/api/orders/${json.id}`)).json.next_actions).toEqual([])
      const refused = await buyer.post(`/api/orders/${json.id}/cancel`)
      expect([refused.status, refused.json.code, refused.json.reason]).toEqual([
        ...[409, 'ORDER_NOT_CANCELABLE', reason]
      ])
      const { status, json: canceled } = await shop.admin.post(`/api/admin/orders/${json.id}/cancel`, {
        reason: 'sold out'
      })
      expect([status, canceled.status, canceled.payment_status]).toEqual([200, 'canceled', 'refunded'])
    }
  )

  test('a cancellation is rejected when units are shipped, and when the order was changed meanwhile', async () => {
    const shop = await useOrders()
    await shop.stock(shop.mug, 5)
    const buyer = shop.as(customer())
    const { json } = await buyer.post('/api/orders', { ...sent(shop.mug, 2), payment: TRANSFER })
    const stale = await buyer.post(`/api/orders/${json.id}/cancel`, undefined, { 'if-match': '"7"' })
    expect([stale.status, stale.json.code]).toEqual([412, 'ORDER_STALE'])
    await shop.pay(json.id)
    const lines = [{ line: 1, quantity: 1 }]
    await shop.admin.post(`/api/admin/orders/${json.id}/shipments`, { lines })
    const refused = await buyer.post(`/api/orders/${json.id}/cancel`)
    expect([refused.status, refused.json.reason]).toEqual([409, 'shipped'])
  })
})
