import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { type PaymentShop, usePayments } from '../../../../test/support/payments.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const MANUAL = { CARTWRIGHT__PAYMENTS__CAPTURE: 'manual' }
const path = (id: string, deed: string) => `/api/admin/payments/${id}/${deed}`
const reason = 'it was broken'

async function held(amount = 10_000) {
  const shop = await usePayments({ settings: MANUAL })
  const orderId = await shop.order(amount)
  const { id } = await shop.intent(orderId)
  await shop.act(id, 'pay')
  await until('the payment is authorized', async () => (await shop.payment(id)).status === 'authorized')
  return { ...shop, orderId, id }
}
const refundsOf = async ({ objectsOf }: PaymentShop, id: string) =>
  (await objectsOf(id)).filter(({ object }) => object === 'refund')
async function paid(shop: PaymentShop, amount = 10_000) {
  const orderId = await shop.order(amount)
  const { id } = await shop.intent(orderId)
  await shop.act(id, 'pay')
  await until('the payment has succeeded', async () => (await shop.payment(id)).status === 'succeeded')
  return { orderId, id }
}

test('an authorized payment is captured in part, and the rest is voided', async () => {
  const { id, orderId, admin, account } = await held()
  expect(await account(orderId)).toMatchObject({ status: 'authorized', authorized: 10_000 })
  const tooMuch = await admin.post(path(id, 'capture'), { amount: 10_001 })
  expect(tooMuch).toMatchObject({
    status: 409,
    json: { code: 'PAYMENT_CAPTURE_TOO_MUCH', available: 10_000 }
  })
  const key = { 'idempotency-key': newId() }
  for (let time = 0; time < 2; time += 1) {
    const taken = await admin.post(path(id, 'capture'), { amount: 6_000 }, key)
    expect(taken).toMatchObject({
      status: 200,
      json: { status: 'succeeded', captured: 6_000, authorized: 0 }
    })
    expect(taken.json.operations.map(({ kind }: { kind: string }) => kind)).toEqual(['create', 'capture'])
  }
  expect(await account(orderId)).toMatchObject({ status: 'partially_paid', committed: 6_000 })
  expect(await admin.post(path(id, 'capture'), {})).toMatchObject({ json: { available: 0 } })
})

test('a voided authorization of a payment cannot be captured', async () => {
  const { id, orderId, admin, account } = await held()
  expect(await admin.post(path(id, 'void'))).toMatchObject({ status: 200, json: { status: 'canceled' } })
  expect(await account(orderId)).toMatchObject({ status: 'unpaid', authorized: 0, committed: 0 })
  expect(await admin.post(path(id, 'void'))).toMatchObject({ json: { code: 'PAYMENT_NOT_VOIDABLE' } })
  expect(await admin.post(path(id, 'capture'), {})).toMatchObject({ json: { available: 0 } })
})

test('an authorized payment that expired at the provider is closed', async () => {
  const { id, orderId, act, payment, account } = await held()
  await act(id, 'expire')
  await until('the payment is canceled', async () => (await payment(id)).status === 'canceled')
  expect(await account(orderId)).toMatchObject({ status: 'unpaid', committed: 0 })
})

test('while the result of a capture is unknown, a second capture is rejected', async () => {
  needsOwnShop()
  const { id, admin, sandbox, payment, hurry, orderId, account } = await held()
  await sandbox.fault('drop')
  const first = await admin.post(path(id, 'capture'), {})
  expect(first.json.operations[1]).toMatchObject({ kind: 'capture', state: 'unknown' })
  // The callback may be faster than the retry. Either way the payment is captured once.
  const second = await admin.post(path(id, 'void'))
  expect(['PAYMENT_OPERATION_OPEN', 'PAYMENT_NOT_VOIDABLE']).toContain(second.json.code)
  await hurry()
  await until(
    'the capture has succeeded',
    async () => (await payment(id)).operations[1].state === 'succeeded'
  )
  expect(await account(orderId)).toMatchObject({ status: 'paid', captured: 10_000 })
})

test('refunds, full or partial, never exceed the captured amount', async () => {
  const shop = await usePayments()
  const { admin, account } = shop
  const { id, orderId } = await paid(shop)
  const refund = (amount: number, headers = {}) => admin.post(path(id, 'refund'), { amount, reason }, headers)
  const key = { 'idempotency-key': newId() }
  for (let time = 0; time < 2; time += 1)
    expect((await refund(3_000, key)).json).toMatchObject({ status: 'partially_refunded', refunded: 3_000 })
  expect(await refund(7_001)).toMatchObject({
    status: 409,
    json: { code: 'PAYMENT_REFUND_TOO_MUCH', available: 7_000 }
  })
  expect((await refund(7_000)).json).toMatchObject({ status: 'refunded', refunded: 10_000 })
  expect(await account(orderId)).toMatchObject({ status: 'refunded', refunding: 0 })
  const refunds = await refundsOf(shop, id)
  expect(refunds.map(({ amount }) => amount).sort()).toEqual([3_000, 7_000])
  for (const body of [{ amount: 0, reason }, { amount: -1, reason }, { amount: 1.5, reason }, { amount: 1 }])
    expect((await admin.post(path(id, 'refund'), body)).status).toBe(400)
})

test('concurrent refunds never exceed the captured amount', async () => {
  const shop = await usePayments()
  const { id, orderId } = await paid(shop)
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => shop.admin.post(path(id, 'refund'), { amount: 3_000, reason }))
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  expect(answers.filter(({ json }) => json.code === 'PAYMENT_REFUND_TOO_MUCH')).toHaveLength(9)
  expect(await refundsOf(shop, id)).toHaveLength(3)
  expect(await shop.account(orderId)).toMatchObject({ refunded: 9_000, refunding: 0 })
})

test('a refund with a lost response is repeated with its idempotency key, and made once', async () => {
  needsOwnShop()
  const shop = await usePayments()
  const { id, orderId } = await paid(shop)
  await shop.sandbox.ask('/test/webhooks', { hold: true })
  await shop.sandbox.fault('drop')
  const refunded = await shop.admin.post(path(id, 'refund'), { amount: 4_000, reason })
  expect(refunded.json).toMatchObject({ refunding: 4_000, refunded: 0 })
  expect((await shop.admin.get('/api/admin/payments/operations?count=true')).json).toMatchObject({ total: 1 })
  await shop.hurry()
  await until('the refund is recorded', async () => (await shop.account(orderId)).refunded === 4_000)
  expect((await shop.sandbox.objects()).filter(({ object }) => object === 'refund')).toHaveLength(1)
  expect(await shop.account(orderId)).toMatchObject({ refunding: 0, status: 'partially_refunded' })
  const [row] = await shop.sql(`select request, attempts from payments.operations where kind = 'refund'`)
  expect(row).toMatchObject({ request: null })
})

test('a refund whose idempotency key has expired is searched at the provider, never repeated', async () => {
  needsOwnShop()
  const shop = await usePayments()
  const { id, orderId } = await paid(shop)
  await shop.sandbox.ask('/test/webhooks', { hold: true })
  const refunds = async () =>
    (await shop.sandbox.objects()).filter(({ object }) => object === 'refund').length
  const settled = async (nth: number) => (await shop.payment(id)).operations[nth].settled_at !== null

  await shop.sandbox.fault('drop')
  await shop.admin.post(path(id, 'refund'), { amount: 4_000, reason })
  await shop.sandbox.ask('/test/clock', { advance_seconds: 2 * 86_400 })
  await shop.sql(
    `update payments.operations set sent_at = sent_at - interval '2 days' where settled_at is null`
  )
  await shop.hurry()
  await until('the refund is settled', () => settled(1))
  expect([await refunds(), (await shop.account(orderId)).refunded]).toEqual([1, 4_000])

  // The provider never received this one.
  await shop.admin.post(path(id, 'refund'), { amount: 1_000, reason })
  const [made] = await shop.sql(`select id from payments.operations where amount = 1000`)
  await shop.sql(
    `update payments.operations set state = 'unknown', settled_at = null, object_id = null, next_check_at = now(),
       error = null, id = gen_random_uuid(), sent_at = now() - interval '2 days' where id = $1`,
    [made?.id]
  )
  await shop.hurry()
  await until('the refund has failed', async () => (await shop.payment(id)).operations[2].state === 'failed')
  expect((await shop.payment(id)).operations[2].error).toBe('the provider never received it')
})

test('a refund can fail after the provider reported its success, and can then be repeated', async () => {
  const shop = await usePayments()
  const { id, orderId } = await paid(shop)
  const { json } = await shop.admin.post(path(id, 'refund'), { amount: 10_000, reason })
  const { object_id } = json.operations[1]
  await shop.sandbox.ask(`/test/refunds/${object_id}/fail`, {})
  await until('the refund has failed', async () => (await shop.account(orderId)).status === 'paid')
  expect((await shop.admin.post(path(id, 'refund'), { amount: 10_000, reason })).status).toBe(200)
  expect(await shop.account(orderId)).toMatchObject({ status: 'refunded', refunded: 10_000 })
})

test('an administrator captures and refunds bank transfers', async () => {
  const settings = { CARTWRIGHT__PAYMENTS__BANK_TRANSFER: 'SE35 5000 0000 0549 1000 0003' }
  const { order, intent, admin, account, payment } = await usePayments({ settings })
  const orderId = await order()
  const { id, action } = await intent(orderId, { provider: 'manual' })
  expect(action).toMatchObject({ type: 'bank_transfer', text: 'SE35 5000 0000 0549 1000 0003' })
  expect((await admin.post(path(id, 'capture'), {})).json).toMatchObject({ status: 'succeeded' })
  expect((await account(orderId)).status).toBe('paid')
  expect((await admin.post(path(id, 'refund'), { amount: 10_000, reason })).status).toBe(200)
  expect(await payment(id)).toMatchObject({ status: 'refunded', operations: [{}, {}, { reason }] })
})

test('payments are listed in pages, by status and provider', async () => {
  needsOwnShop()
  const { order, intent, admin } = await usePayments()
  for (let nth = 0; nth < 3; nth += 1) await intent(await order(), { provider: 'manual' })
  await intent(await order())
  const list = async (query: string) => (await admin.get(`/api/admin/payments?${query}`)).json
  expect(await list('count=true&provider=manual')).toMatchObject({ total: 3 })
  expect(await list('count=true&status=succeeded')).toMatchObject({ total: 0, items: [] })
  const first = await list('limit=3')
  const second = await list(`limit=3&cursor=${first.next_cursor}`)
  expect([first.items.length, second.items.length, second.next_cursor]).toEqual([3, 1, null])
  expect(await admin.get(`/api/admin/payments/${newId()}`)).toMatchObject({
    status: 404,
    json: { code: 'PAYMENT_NOT_FOUND' }
  })
})
