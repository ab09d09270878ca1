import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { type PaymentShop, usePayments } from '../../../../test/support/payments.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'
import type { PaymentChangeListener } from '../index.ts'

shareShops()

const canceled: string[] = []
const applyChange: PaymentChangeListener = async (tx, account, change) => {
  if (!change.isFrozen || !change.isSettled) return
  if (change.captured > 0) await account.unfreeze()
  else tx.afterCommit(() => canceled.push(change.orderId))
}

/** A shop whose orders cancel in two phases: a settled unpaid order is canceled, a paid one is unfrozen. */
async function useOrders(settings = {}) {
  const shop = await usePayments({ settings, applyChange })
  const freeze = (orderId: string) => shop.withAccount(orderId, account => account.freeze())
  return { ...shop, canceled, freeze }
}
const statusOf = async ({ sandbox }: Pick<PaymentShop, 'sandbox'>, id: string) =>
  (await sandbox.intentOf(id))?.status

test("a payment account is opened with its first payment in the order's transaction, and the payment is sent later", async () => {
  const { api, db, buyer, payment, objectsOf, changes } = await useOrders()
  const orderId = newId()
  const account = {
    orderId,
    customerId: buyer.id,
    currency: 'EUR',
    dueMinor: 900,
    tokenVersion: 1,
    reference: 'A1'
  }
  const broken = db.transaction(async tx => {
    await api.openAccount(tx, account, {})
    throw new Error('the order is not placed after all')
  })
  await expect(broken).rejects.toThrow('after all')
  await db.transaction(tx => api.openAccount(tx, account, {}))
  expect(await payment(orderId)).toMatchObject({ amount: 900, operations: [{ id: orderId, attempts: 0 }] })
  await api.sendOperations(orderId)
  await api.sendOperations(orderId)
  expect(await payment(orderId)).toMatchObject({
    operations: [{ id: orderId, state: 'succeeded', attempts: 1 }]
  })
  expect(await objectsOf(orderId)).toHaveLength(1)
  expect(changes.findLast(change => change.orderId === orderId)).toMatchObject({
    status: 'unpaid',
    due: 900,
    isSettled: false
  })

  const free = { ...account, orderId: newId(), dueMinor: 0 }
  await db.transaction(tx => api.openAccount(tx, free, {}))
  expect(await api.findAccount(db, free.orderId)).toMatchObject({ status: 'paid', committed: 0 })
})

test('the first payment of an order is marked as sent, sent once, and sent by the reconciler when nothing else does', async () => {
  needsOwnShop()
  const { forOrders, db, buyer, payment, sandbox, hurry } = await useOrders()
  const open = async () => {
    const orderId = newId()
    const account = { orderId, customerId: buyer.id, currency: 'EUR', dueMinor: 900, tokenVersion: 1 }
    const started = await db.transaction(tx =>
      forOrders.openAccountOfOrder(tx, { ...account, reference: 'A1' }, { provider: 'sandbox' })
    )
    return { orderId, started }
  }
  const { orderId, started } = await open()
  const sent = { id: orderId, state: 'started', attempts: 1 }
  expect(await payment(orderId)).toMatchObject({ amount: 900, operations: [sent] })
  expect(started?.method).toBe('card')
  expect(await started?.send?.()).toMatchObject({ isUnchanged: true })
  expect(await payment(orderId)).toMatchObject({ operations: [{ ...sent, state: 'succeeded' }] })
  expect(await sandbox.objects()).toHaveLength(1)

  const unsent = await open()
  await hurry()
  await until('the reconciler has sent it', async () => {
    const [operation] = (await payment(unsent.orderId)).operations
    return operation.state === 'succeeded' && operation.attempts === 2
  })
  expect(await sandbox.objects()).toHaveLength(2)
})

test('an unsent payment is closed immediately when the order is canceled', async () => {
  const { api, db, buyer, freeze, withAccount, objectsOf, as } = await useOrders()
  const orderId = newId()
  const account = {
    orderId,
    customerId: buyer.id,
    currency: 'EUR',
    dueMinor: 900,
    tokenVersion: 1,
    reference: 'A1'
  }
  await db.transaction(tx => api.openAccount(tx, account, {}))
  expect(await freeze(orderId)).toMatchObject({ isFrozen: true, isSettled: true, committed: 0 })
  await api.sendOperations(orderId)
  expect(await objectsOf(orderId)).toEqual([])
  expect(await as(buyer).post('/api/payments/intent', { order_id: orderId })).toMatchObject({
    status: 409,
    json: { code: 'PAYMENT_ORDER_FROZEN' }
  })
  await withAccount(orderId, account => account.unfreeze())
  expect((await as(buyer).post('/api/payments/intent', { order_id: orderId })).status).toBe(201)
})

test('payments of an order that is being canceled cannot be captured', async () => {
  needsOwnShop()
  const { order, intent, freeze, act, payment, admin, sandbox, account } = await useOrders({
    CARTWRIGHT__PAYMENTS__CAPTURE: 'manual'
  })
  const orderId = await order()
  const { id } = await intent(orderId)
  await act(id, 'pay')
  await until('the payment is authorized', async () => (await payment(id)).status === 'authorized')
  await sandbox.fault('error', 1)
  await freeze(orderId)
  expect(await admin.post(`/api/admin/payments/${id}/capture`, {})).toMatchObject({
    status: 409,
    json: { code: 'PAYMENT_ORDER_FROZEN' }
  })
  await until('the authorization is voided', async () => (await account(orderId)).authorized === 0)
})

test('a sent payment is voided first, and its order is canceled once the void is confirmed', async () => {
  const shop = await useOrders()
  const { order, intent, freeze, canceled, api } = shop
  const orderId = await order()
  const { id } = await intent(orderId)
  expect(await freeze(orderId)).toMatchObject({ isSettled: false })
  await api.sendOperations(orderId)
  await until('the order is canceled', () => canceled.includes(orderId))
  expect(await statusOf(shop, id)).toBe('canceled')
  expect(await shop.account(orderId)).toMatchObject({ committed: 0, status: 'unpaid' })
})

test('an order that the buyer pays while it is being canceled counts as paid', async () => {
  needsOwnShop()
  const shop = await useOrders()
  const { order, intent, freeze, canceled, act, account, sandbox } = shop
  const orderId = await order()
  const { id } = await intent(orderId)
  await sandbox.ask('/test/webhooks', { hold: true })
  await act(id, 'pay')
  await freeze(orderId)
  // The rejected void shows that it was paid.
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')
  await until('the account is unfrozen', async () => (await account(orderId)).frozen_at === null)
  expect(canceled).not.toContain(orderId)
})

test('an order is not canceled while the result of its payment is unknown; the payment is then voided', async () => {
  needsOwnShop()
  const shop = await useOrders()
  const { order, intent, freeze, canceled, sandbox, hurry } = shop
  const orderId = await order()
  await sandbox.ask('/test/webhooks', { hold: true })
  await sandbox.fault('drop')
  const { id } = await intent(orderId)
  expect(await freeze(orderId)).toMatchObject({ isSettled: false })
  await hurry()
  await until('the order is canceled', () => canceled.includes(orderId))
  expect(await statusOf(shop, id)).toBe('canceled')
})

test('a capture after the cancellation of its order is recorded and reported to the orders module', async () => {
  const { order, intent, freeze, canceled, act, account, changes } = await useOrders()
  const orderId = await order()
  const { id } = await intent(orderId)
  await freeze(orderId)
  await until('the order is canceled', () => canceled.includes(orderId))
  await act(id, 'capture_late')
  await until('the capture is recorded', async () => (await account(orderId)).captured === 10_000)
  expect(changes.findLast(change => change.orderId === orderId)).toMatchObject({
    status: 'paid',
    captured: 10_000
  })
})

test('an order that is paid twice is overpaid until one payment is refunded', async () => {
  const { order, intent, act, account, withAccount, admin } = await useOrders()
  const orderId = await order()
  const card = await intent(orderId)
  const transfer = await intent(orderId, { provider: 'manual' })
  await admin.post(`/api/admin/payments/${transfer.id}/capture`, {})
  await act(card.id, 'capture_late')
  await until('both captures are recorded', async () => (await account(orderId)).captured === 20_000)
  expect(await account(orderId)).toMatchObject({ status: 'paid', is_overpaid: true })
  const refund = (amountMinor: number) => {
    const wanted = { id: newId(), amountMinor, reason: 'paid twice', actor: null }
    return withAccount(orderId, account => account.refund(wanted))
  }
  await expect(refund(20_001)).rejects.toMatchObject({
    code: 'PAYMENT_REFUND_TOO_MUCH',
    details: { available: 20_000 }
  })
  await refund(10_000)
  await until('the refund is recorded', async () => (await account(orderId)).refunded === 10_000)
  expect(await account(orderId)).toMatchObject({ status: 'paid', is_overpaid: false, refunding: 0 })
  // The latest payment is refunded first, then the one before.
  await refund(4_000)
  await until('the second refund is recorded', async () => (await account(orderId)).refunded === 14_000)
  expect((await account(orderId)).status).toBe('partially_refunded')
})

test("a guest's order that is assigned to a customer belongs to the customer, and its old tokens are invalid", async () => {
  const { order, withAccount, tokenOf, request, as } = await useOrders()
  const orderId = await order(500, null)
  const read = (version: number) =>
    request('GET', `/api/payments/guest/by-order/${orderId}`, {
      headers: { 'x-order-token': tokenOf(orderId, version) }
    })
  const begun = { headers: { 'x-order-token': tokenOf(orderId) }, body: { order_id: orderId } }
  expect((await request('POST', '/api/payments/guest/intent', begun)).status).toBe(201)
  expect(await withAccount(orderId, account => account.reissueOrderToken(null))).toBe(2)
  expect([(await read(1)).status, (await read(2)).status]).toEqual([404, 200])
  const owner = customer()
  expect(await withAccount(orderId, account => account.reissueOrderToken(owner.id))).toBe(3)
  expect((await as(owner).get('/api/payments')).json.items).toHaveLength(1)
  expect((await as(owner).get(`/api/payments/by-order/${orderId}`)).status).toBe(200)
})
