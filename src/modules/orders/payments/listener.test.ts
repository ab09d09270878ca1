import { expect, test } from 'vitest'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'

shareShops()

test('a pending order is placed when it is paid', async () => {
  const shop = await useOrders()
  await shop.stock(shop.mug, 3)
  const buyer = shop.as(customer())
  const { json } = await buyer.post('/api/orders', { ...sent(shop.mug, 2), payment: TRANSFER })
  expect(json).toMatchObject({ status: 'pending', payment_status: 'unpaid', placed_at: null })
  expect(await shop.reserved(shop.mug)).toEqual([{ order_id: json.id, state: 'claimed', quantity: 2 }])
  const { json: intent } = await buyer.post('/api/payments/intent', { order_id: json.id, ...TRANSFER })
  expect(intent).toMatchObject({ order_id: json.id, amount: 2_490, status: 'pending' })

  await shop.pay(json.id)
  const { json: paid } = await buyer.get(`/api/orders/${json.id}`)
  expect(paid).toMatchObject({ status: 'paid', payment_status: 'paid', version: 2, next_actions: ['cancel'] })
  expect(Date.parse(paid.placed_at)).toBeGreaterThan(Date.parse(paid.created_at))
  expect(paid.history).toMatchObject([
    { action: 'create', to: 'pending' },
    { action: 'place', from: 'pending', to: 'placed' }
  ])
  expect(await shop.reserved(shop.mug)).toEqual([{ order_id: json.id, state: 'confirmed', quantity: 2 }])
  expect(await shop.orders()).toMatchObject([{ network: null }])
})

test('a free order is placed as paid, and has no amount due', async () => {
  const shop = await useOrders()
  const gift = await shop.sell({ price: 0, requires_shipping: false })
  await shop.stock(gift, 1)
  const buyer = shop.as(customer())
  const { json } = await buyer.post('/api/orders', { items: [{ variant_id: gift, quantity: 1 }] })
  expect(json).toMatchObject({ status: 'paid', payment_status: 'paid', total: 0, next_actions: [] })
  await expect.poll(() => shop.reserved(gift)).toEqual([])
  const { json: intent } = await buyer.post('/api/payments/intent', { order_id: json.id })
  expect(intent.code).toBe('PAYMENT_NOTHING_DUE')
})

test.each([
  ['cash_on_delivery', 'cod'],
  ['on_account', 'on_account']
])('an order paid by %s is placed immediately, before its payment', async (method, terms) => {
  const methods = '["bank_transfer","cash_on_delivery","on_account"]'
  const shop = await useOrders({ settings: { CARTWRIGHT__PAYMENTS__MANUAL_METHODS: methods } })
  await shop.stock(shop.mug, 1)
  const payment = { provider: 'manual', method }
  const { json } = await shop.as(customer()).post('/api/orders', { ...sent(shop.mug), payment })
  expect(json).toMatchObject({
    status: 'pending',
    payment_status: 'unpaid',
    terms,
    next_actions: ['pay', 'cancel']
  })
  expect(await shop.orders()).toMatchObject([{ state: 'placed' }])
  // A paid order can take its units.
  expect(await shop.reserved(shop.mug)).toMatchObject([{ state: 'claimed' }])
})

test('a repeated payment event does not change the order twice', async () => {
  const shop = await useOrders()
  const buyer = shop.as(customer())
  const { json } = await buyer.post('/api/orders', { ...sent(shop.mug), payment: TRANSFER })
  await shop.pay(json.id)
  const [payment] = await shop.sql('select id from payments.payments where order_id = $1', [json.id])
  const refund = { amount: 490, reason: 'late' }
  expect((await shop.admin.post(`/api/admin/payments/${payment?.id}/refund`, refund)).status).toBeLessThan(
    300
  )
  const { json: order } = await buyer.get(`/api/orders/${json.id}`)
  expect(order).toMatchObject({ payment_status: 'partially_refunded', status: 'paid' })
  expect(order.history).toHaveLength(2)
})

test('an order with a line canceled during its payment is placed once, and the difference is refunded', async () => {
  const shop = await usePaidOrders()
  const { id, total } = await shop.order(2)
  // The amount of both lines, before the shop has received the event.
  await shop.act(id, 'pay')
  await shop.does(id, 'cancel', { lines: [{ line: 1, quantity: 1 }] })
  await shop.becomes(id, { status: 'paid' })
  await shop.settled()
  const { history } = await shop.read(id)
  expect(history.map(({ action }: { action: string }) => action).toSorted()).toEqual([
    'cancel_lines',
    'create',
    'place'
  ])
  const account = 'select captured::int, refunded::int from payments.accounts where order_id = $1'
  expect(await shop.sql(account, [id])).toEqual([{ captured: total, refunded: 1_000 }])
})
