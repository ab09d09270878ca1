import { expect, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { sent, TRANSFER } from '../../../../test/support/orders.ts'
import { type PaidOrders, usePaidOrders } from '../../../../test/support/paid-orders.ts'

/** Shifts all orders into the past. */
const pass = (shop: PaidOrders, interval: string) =>
  shop.sql(
    `update orders.orders set created_at = created_at - $1::interval, expires_at = expires_at - $1::interval`,
    [interval]
  )
const sweep = (shop: PaidOrders) => doOnceMore(shop, 'orders.expire_orders')

test('an unpaid order expires: it is canceled, its stock is released and its cart restored', async () => {
  const shop = await usePaidOrders()
  const tea = await shop.sell()
  await shop.buyer.post('/api/cart', { variant_id: shop.mug, quantity: 2 })
  const { items: _, ...rest } = sent(shop.mug)
  const { json } = await shop.buyer.post('/api/orders', { ...rest, payment: {} })
  await shop.buyer.post('/api/cart', { variant_id: tea, quantity: 1 })
  await pass(shop, '29 minutes')
  await sweep(shop)
  expect((await shop.read(json.id)).status).toBe('pending')
  await pass(shop, '2 minutes')
  await sweep(shop)
  await shop.settled()
  const order = await shop.becomes(json.id, { status: 'canceled', items: [{ canceled: 2 }] })
  expect(order.history).toMatchObject([
    ...[{ action: 'create' }, { action: 'cancel', reason: 'it was not paid in time', actor: null }],
    { action: 'confirm_cancel' }
  ])
  const { json: cart } = await shop.buyer.get('/api/cart')
  expect(
    cart.items.map(({ variant_id, quantity }: Record<string, unknown>) => [variant_id, quantity])
  ).toEqual(
    expect.arrayContaining([
      [shop.mug, 2],
      [tea, 1]
    ])
  )
  await expect.poll(() => shop.reserved(shop.mug)).toEqual([])
})

/** Minutes between creation and expiry. */
const minutesOf = ({ created_at, expires_at }: { created_at: string; expires_at: string | null }) =>
  expires_at === null ? null : (Date.parse(expires_at) - Date.parse(created_at)) / 60_000
const DAY = 24 * 60

test('an unpaid order shows its expiry, which follows its payment method', async () => {
  const methods = '["bank_transfer","on_account"]'
  const shop = await usePaidOrders({ settings: { CARTWRIGHT__PAYMENTS__MANUAL_METHODS: methods } })
  const order = async (payment?: object) =>
    (await shop.buyer.post('/api/orders', { ...sent(shop.mug), payment })).json
  const choose = (order_id: string, payment: object) =>
    shop.buyer.post('/api/payments/intent', { order_id, ...payment })
  const minutes = async (id: string) => minutesOf((await shop.buyer.get(`/api/orders/${id}`)).json)

  const transferred = await order(TRANSFER)
  // The expiry was set at creation. The payment changes nothing.
  expect([minutesOf(transferred), transferred.version]).toEqual([DAY, 1])
  const { id, ...made } = await order()
  expect(minutesOf(made)).toBe(30)
  await choose(id, TRANSFER)
  expect(await minutes(id)).toBe(DAY)
  // A buyer who pays by card instead gets no more time, and keeps the time left.
  await choose(id, { provider: 'sandbox' })
  expect(await minutes(id)).toBe(30)
  await choose(id, TRANSFER)
  await pass(shop, '1 hour')
  await choose(id, { provider: 'sandbox' })
  expect(await minutes(id)).toBe(DAY)
  await shop.pay(id)
  expect(await minutes(id)).toBe(null)

  expect(minutesOf(await order({ provider: 'manual', method: 'on_account' }))).toBe(null)
  const later = await order()
  await choose(later.id, { provider: 'manual', method: 'on_account' })
  expect(await minutes(later.id)).toBe(null)
})

test('an unpaid order by bank transfer expires later, and orders that are not prepaid never expire', async () => {
  const methods = '["bank_transfer","cash_on_delivery","on_account"]'
  const shop = await usePaidOrders({ settings: { CARTWRIGHT__PAYMENTS__MANUAL_METHODS: methods } })
  const order = async (payment: object) =>
    (await shop.buyer.post('/api/orders', { ...sent(shop.mug), payment })).json.id as string
  const transfer = await order(TRANSFER)
  const onAccount = await order({ provider: 'manual', method: 'on_account' })
  await pass(shop, '23 hours')
  await sweep(shop)
  expect((await shop.read(transfer)).status).toBe('pending')
  await pass(shop, '2 hours')
  await sweep(shop)
  await shop.becomes(transfer, { status: 'canceled' })
  await pass(shop, '400 days')
  await sweep(shop)
  expect((await shop.read(onAccount)).next_actions).toContain('fulfil')
})

test('an order that is paid at the last moment before its expiry is not canceled', async () => {
  const shop = await usePaidOrders()
  const { id } = await shop.order()
  await shop.act(id, 'pay')
  await pass(shop, '31 minutes')
  await sweep(shop)
  await shop.settled()
  const order = await shop.becomes(id, { status: 'paid', cancel_requested_at: null })
  expect(order.history.map(({ action }: { action: string }) => action)).toEqual([
    ...['create', 'cancel', 'refuse_cancel', 'place']
  ])
  expect(await shop.reserved(shop.mug)).toMatchObject([{ state: 'confirmed', quantity: 2 }])
  // It can be processed like any other order.
  expect((await shop.does(id, 'shipments')).status).toBe('shipped')
})

test('an authorized order does not expire while it waits for its units of stock', async () => {
  const shop = await usePaidOrders({ capture: 'manual' })
  const { id } = await shop.order()
  await shop.sql(`update orders.orders set payment_status = 'authorized' where id = $1`, [id])
  await pass(shop, '31 minutes')
  await sweep(shop)
  expect(await shop.read(id)).toMatchObject({ status: 'pending', cancel_requested_at: null })
})

test('an expired order that cannot be canceled does not keep others from expiring', async () => {
  const shop = await usePaidOrders()
  const order = async () => (await shop.buyer.post('/api/orders', sent(shop.mug))).json.id as string
  const [broken, sound] = [await order(), await order()]
  await shop.sql('delete from payments.accounts where order_id = $1', [broken])
  await pass(shop, '31 minutes')
  await sweep(shop)
  await shop.becomes(sound, { status: 'canceled' })
  expect(await shop.sql('select state from orders.orders where id = $1', [broken])).toEqual([
    { state: 'pending' }
  ])
})
