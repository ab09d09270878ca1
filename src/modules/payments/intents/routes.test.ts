import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { usePayments } from '../../../../test/support/payments.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

shareShops()

test('a payment is started, paid on the payment page, confirmed by a callback, and reported to the listener', async () => {
  const { order, intent, account, payment, changes, objectsOf } = await usePayments()
  const orderId = await order(12_345)
  const begun = await intent(orderId)
  expect(begun).toMatchObject({
    order_id: orderId,
    provider: 'sandbox',
    method: 'card',
    amount: 12_345,
    currency: 'EUR',
    status: 'pending'
  })
  const page = await fetch(begun.redirect_url)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('€123.45')])

  const form = new URLSearchParams({ client_secret: begun.client_secret, outcome: 'pay' })
  const { origin, pathname } = new URL(begun.redirect_url)
  const paid = await fetch(origin + pathname, { method: 'POST', body: form })
  expect(await paid.text()).toContain('succeeded')
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')
  expect(await payment(begun.id)).toMatchObject({ status: 'succeeded', captured: 12_345, authorized: 0 })
  expect(changes.findLast(change => change.orderId === orderId)).toMatchObject({
    status: 'paid',
    captured: 12_345,
    isSettled: true
  })
  expect((await objectsOf(begun.id)).map(({ object }) => object).sort()).toEqual(['charge', 'payment_intent'])
})

test('a payment without a callback is found by polling the provider', async () => {
  needsOwnShop()
  const { order, intent, act, sandbox, account, hurry, payment } = await usePayments()
  const orderId = await order()
  await sandbox.ask('/test/webhooks', { hold: true })
  const { id } = await intent(orderId)
  await act(id, 'pay')
  await hurry()
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')
  const sources = (await payment(id)).facts.map(({ source }: { source: string }) => source)
  expect(new Set(sources)).toEqual(new Set(['poll']))
})

test('a second request to pay returns the open payment, also after a lost response', async () => {
  needsOwnShop()
  const { order, intent, sandbox, payment, buyer, as } = await usePayments()
  const orderId = await order()
  await sandbox.fault('drop')
  const first = await intent(orderId)
  expect(first.redirect_url).toBeUndefined()
  expect((await payment(first.id)).operations).toMatchObject([{ state: 'unknown', attempts: 1 }])
  const second = await intent(orderId)
  expect([second.id, second.redirect_url]).toEqual([first.id, expect.stringContaining('/pay/')])
  const key = { 'idempotency-key': newId() }
  const [third, fourth] = [
    await as(buyer).post('/api/payments/intent', { order_id: orderId }, key),
    await as(buyer).post('/api/payments/intent', { order_id: orderId }, key)
  ]
  expect([third.json.id, fourth.json.id, fourth.json.client_secret]).toEqual([
    first.id,
    first.id,
    second.client_secret
  ])
  expect(await sandbox.objects()).toHaveLength(1)
  expect((await payment(first.id)).operations).toMatchObject([{ state: 'succeeded' }])
})

test('after a declined payment the buyer can try again, and a card can require authentication', async () => {
  const { order, intent, act, payment } = await usePayments()
  const { id } = await intent(await order())
  await act(id, 'fail')
  await until('the payment has failed', async () => (await payment(id)).status === 'failed')
  await act(id, 'require_action')
  await until('the payment requires an action', async () => (await payment(id)).status === 'requires_action')
  await act(id, 'pay')
  await until('the payment has succeeded', async () => (await payment(id)).status === 'succeeded')
})

test('paying by another method voids the open payment, and no order can be paid twice', async () => {
  const { order, intent, account, payment, objectsOf, as, buyer, act } = await usePayments()
  const orderId = await order()
  const card = await intent(orderId)
  const transfer = await intent(orderId, { provider: 'manual' })
  expect(transfer).toMatchObject({ method: 'bank_transfer', action: { reference: `number of ${orderId}` } })
  expect([(await payment(card.id)).status, (await account(orderId)).committed]).toEqual(['canceled', 10_000])
  expect((await objectsOf(card.id)).map(({ status }) => status)).toEqual(['canceled'])
  expect(await objectsOf(transfer.id)).toEqual([])
  const cardAgain = await intent(orderId)
  await act(cardAgain.id, 'pay')
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')
  const more = await as(buyer).post('/api/payments/intent', { order_id: orderId })
  expect(more).toMatchObject({ status: 409, json: { code: 'PAYMENT_NOTHING_DUE' } })
})

test('no new payment of an order starts until the provider confirms the void of the open one', async () => {
  needsOwnShop()
  const { order, intent, sandbox, as, buyer, account } = await usePayments()
  const orderId = await order()
  await intent(orderId)
  // For the retries, too, which a busy machine sends before the end of this test.
  await sandbox.fault('error', 9)
  const refused = await as(buyer).post('/api/payments/intent', { order_id: orderId, provider: 'manual' })
  expect(refused).toMatchObject({ status: 409, json: { code: 'PAYMENT_OPERATION_OPEN' } })
  expect((await account(orderId)).committed).toBe(10_000)
})

test('the configured manual payment methods are offered, and are the default without a sandbox', async () => {
  const { order, intent, as, buyer } = await usePayments({
    settings: {
      CARTWRIGHT__PAYMENTS__SANDBOX__MODE: 'off',
      CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '[cash_on_delivery, bank_transfer]'
    }
  })
  const order_id = await order()
  const refused = await as(buyer).post('/api/payments/intent', { order_id, method: 'on_account' })
  expect(refused).toMatchObject({ status: 400, json: { methods: ['cash_on_delivery', 'bank_transfer'] } })
  expect(await intent(order_id)).toMatchObject({ provider: 'manual', method: 'cash_on_delivery' })
})

test('a payment provider that does not respond gets no requests after five failures', async () => {
  needsOwnShop()
  const { order, intent, sandbox, admin, payment } = await usePayments()
  await sandbox.fault('error', 9)
  const ids: string[] = []
  for (let nth = 0; nth < 6; nth += 1) ids.push((await intent(await order())).id)
  const sixth = (await payment(ids[5] as string)).operations[0]
  expect(sixth).toMatchObject({ state: 'unknown', error: 'the provider does not respond at present' })
  const { json } = await admin.get('/api/admin/payments/reconciliation')
  expect(json).toMatchObject({ open_operations: 6, providers: [{ name: 'sandbox', is_down: true }, {}] })
  expect(await sandbox.objects()).toHaveLength(5)
})

test('an invalid payment request is rejected and changes nothing', async () => {
  const { order, as, buyer, sql } = await usePayments()
  const [orderId, freeOrderId] = [await order(), await order(0)]
  const post = (body: object) => as(buyer).post('/api/payments/intent', body)
  const cases = [
    [{ order_id: newId() }, 404, 'PAYMENT_ORDER_NOT_FOUND'],
    [{ order_id: 'x' }, 400, 'VALIDATION_FAILED'],
    [{ order_id: orderId, provider: 'paypal' }, 404, 'PAYMENT_PROVIDER_UNKNOWN'],
    [{ order_id: orderId, method: 'cash' }, 400, 'PAYMENT_METHOD_UNKNOWN'],
    [{ order_id: orderId, amount: 1 }, 400, 'VALIDATION_FAILED'],
    [{ order_id: freeOrderId }, 409, 'PAYMENT_NOTHING_DUE']
  ] as const
  for (const [body, status, code] of cases) expect(await post(body)).toMatchObject({ status, json: { code } })
  const ofOrders = 'select id from payments.payments where order_id = any($1)'
  expect(await sql(ofOrders, [[orderId, freeOrderId]])).toEqual([])
})

test('starting a payment runs a fixed number of statements', async () => {
  const { order, intent, as, buyer, record } = await usePayments()
  const sent = async (work: () => Promise<unknown>) =>
    (await record(work)).statements
      .filter(name => name.startsWith('payments.'))
      .map(name => name.slice('payments.'.length))
  const [first, second] = [await order(), await order()]
  await intent(first, { provider: 'manual' })
  expect(await sent(() => as(buyer).get(`/api/payments/by-order/${first}`))).toEqual([
    'find_account',
    'list_page_of_order'
  ])
  expect(await sent(() => as(buyer).get('/api/payments'))).toEqual(['list_own_payments'])
  expect(await sent(() => intent(second, { provider: 'manual' }))).toEqual([
    ...['find_account', 'list_payments_of_order'],
    ...['lock_account', 'list_payments_of_order', 'commit_amount', 'insert_payment', 'insert_operations'],
    ...['find_order_of_operation', 'lock_account', 'claim_operation'],
    ...['upsert_facts', 'settle_operation', 'set_payment_object'],
    ...['list_known', 'find_payment']
  ])
})

test('payments of another customer are not found', async () => {
  const { order, intent, as, buyer, tokenOf, request } = await usePayments()
  const own = await order()
  const guests = await order(500, null)
  const { id } = await intent(own)
  const other = customer()
  const notFound = { status: 404, json: { code: 'PAYMENT_ORDER_NOT_FOUND' } }
  for (const orderId of [own, guests, newId()]) {
    expect(await as(other).post('/api/payments/intent', { order_id: orderId })).toMatchObject(notFound)
    expect(await as(other).get(`/api/payments/by-order/${orderId}`)).toMatchObject(notFound)
    for (const token of ['', 'ort_', tokenOf(newId()), tokenOf(orderId, 2), tokenOf(orderId).slice(0, -1)]) {
      const headers = { 'x-order-token': token }
      const body = { order_id: orderId }
      expect(await request('POST', '/api/payments/guest/intent', { headers, body })).toMatchObject(notFound)
      expect(await request('GET', `/api/payments/guest/by-order/${orderId}`, { headers })).toMatchObject(
        notFound
      )
    }
  }
  expect((await as(other).get('/api/payments?count=true')).json).toMatchObject({ items: [], total: 0 })
  expect((await as(buyer).get('/api/payments?count=true')).json).toMatchObject({ items: [{ id }], total: 1 })
  expect((await as(buyer).get(`/api/payments/by-order/${own}`)).json.items).toMatchObject([{ id }])
  expect((await as(buyer).get(`/api/payments/by-order/${own}`)).text).not.toContain('secret')

  const headers = { 'x-order-token': tokenOf(guests) }
  const body = { order_id: guests }
  expect((await request('POST', '/api/payments/guest/intent', { headers, body })).status).toBe(201)
  const listed = await request('GET', `/api/payments/guest/by-order/${guests}`, { headers })
  expect(listed.json.items).toMatchObject([{ amount: 500 }])
})
