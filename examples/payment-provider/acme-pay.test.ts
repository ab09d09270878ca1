import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { paymentsModule } from 'cartwright'
import { admin, customer, openTestShop, paymentProviderContract } from 'cartwright/testing'
import { acmePayModule } from './acme-pay/index.ts'
import { createAcmePayProvider } from './acme-pay/provider.ts'
import { API_KEY, type Outcome, startFakeAcmePay, WEBHOOK_SECRET } from './fake-acme-pay.ts'

let acme: Awaited<ReturnType<typeof startFakeAcmePay>>
let shop: Awaited<ReturnType<typeof openTestShop>>
before(async () => {
  acme = await startFakeAcmePay()
  shop = await openTestShop({
    modules: [paymentsModule, acmePayModule],
    settings: {
      CARTWRIGHT__ACME_PAY__URL: acme.url,
      CARTWRIGHT__ACME_PAY__API_KEY: API_KEY,
      CARTWRIGHT__ACME_PAY__WEBHOOK_SECRET: WEBHOOK_SECRET,
      CARTWRIGHT__ACME_PAY__TIMEOUT_MS: '200'
    }
  })
})
after(async () => {
  await shop.close()
  acme.close()
})

const buyer = customer()
/** Opens what the buyer has to pay, as an order does, and starts a payment of it. */
async function pay(outcome: Outcome) {
  const orderId = randomUUID()
  await shop.db.transaction(async tx => {
    await shop.apiOf(paymentsModule)?.openAccount(tx, {
      orderId,
      customerId: buyer.id,
      currency: 'EUR',
      dueMinor: 5_000,
      tokenVersion: 1,
      reference: orderId
    })
  })
  acme.next(outcome)
  // A client repeats the request while the payment is pending and asks nothing of the customer.
  const request = async () =>
    (await shop.as(buyer).post('/api/payments/intent', { order_id: orderId, provider: 'acme_pay' })).json
  const first = await request()
  return { first, request, atAcme: () => acme.payments().filter(({ reference }) => reference === first.id) }
}

test('the provider keeps the contract of payments.provider', async t => {
  const provider = createAcmePayProvider({
    http: shop.platform.http,
    url: acme.url,
    apiKey: API_KEY,
    webhookSecret: WEBHOOK_SECRET,
    timeoutMs: 2_000
  })
  const cases = paymentProviderContract({
    provider,
    currency: 'EUR',
    unsupportedCurrency: 'JPY',
    loseNextAnswer: () => acme.next('lost'),
    declineNext: () => acme.next('declined'),
    callbackOf: ({ id }, at) =>
      acme.callbackOf(
        acme.payments().find(({ reference }) => reference === id),
        at
      )
  })
  for (const { name, run } of cases) await t.test(name, run)
})

test('an authorized payment is captured and refunded', async () => {
  const { first } = await pay('authorized')
  assert.equal(first.status, 'authorized')
  const manager = shop.as(admin())
  const captured = await manager.post(`/api/admin/payments/${first.id}/capture`, {})
  assert.deepEqual([captured.json.status, captured.json.captured], ['succeeded', 5_000])
  const refund = { amount: 2_000, reason: 'broken' }
  const refunded = await manager.post(`/api/admin/payments/${first.id}/refund`, refund)
  assert.deepEqual([refunded.json.status, refunded.json.refunded], ['partially_refunded', 2_000])
})

test('a declined payment is closed, and the buyer can try again', async () => {
  const { first, request } = await pay('declined')
  assert.equal(first.status, 'canceled')
  const second = await request()
  assert.notEqual(second.id, first.id)
  assert.equal(second.status, 'authorized')
})

test('a payment that needs an action redirects the customer, and the callback authorizes it', async () => {
  const { first, atAcme, request } = await pay('needs_action')
  const [payment] = atAcme()
  assert.ok(payment)
  assert.deepEqual([first.status, first.redirect_url], ['requires_action', payment.page])
  acme.confirm(payment)
  const { raw, headers } = acme.callbackOf(atAcme()[0], new Date())
  const received = await shop.request('POST', '/api/payments/callback/acme_pay', {
    body: raw,
    headers: { 'content-type': 'application/json', ...headers }
  })
  assert.equal(received.status, 200, received.text)
  // The callback is applied after it was answered.
  let { status } = await request()
  while (status === 'requires_action') status = (await request()).status
  assert.equal(status, 'authorized')
})

for (const outcome of ['slow', 'lost'] as const)
  test(`a payment with a ${outcome} answer is pending, and found without a second one`, async () => {
    const { first, request, atAcme } = await pay(outcome)
    assert.equal(first.status, 'pending')
    assert.equal((await request()).status, 'authorized')
    assert.equal(atAcme().length, 1)
  })
