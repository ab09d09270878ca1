import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { type PaymentShop, usePayments } from '../../../../test/support/payments.ts'
import { type StripeServer, signed, useStripe, WEBHOOK_SECRETS } from '../../../../test/support/stripe.ts'
import { newId } from '../../../kernel/ids.ts'
import { SandboxApiError } from '../../../payment-sandbox/engine.ts'
import { customer } from '../../../testing.ts'
import { addRankToPaymentFact } from '../facts/fact.ts'
import { derivePaymentState } from '../facts/reducer.ts'
import { isStripeEvent, readStripeEvent } from './stripe-objects.ts'

async function useStripeShop(settings: Record<string, string> = {}) {
  const stripe = await useStripe()
  const shop = await usePayments({ settings: { ...stripe.settings, ...settings } })
  const call = (event: unknown, options = {}) =>
    shop.request('POST', '/api/payments/callback/stripe', signed(event, options))
  return { ...shop, stripe, call }
}
const lastOf = (stripe: StripeServer) => stripe.events().at(-1)
/** The customer pays in a browser. */
const pays = ({ engine, intentOf }: StripeServer, id: string) =>
  engine.commit(engine.operations.pay(intentOf(id), 'pm_card_visa'))
const statusOf = async ({ account }: Pick<PaymentShop, 'account'>, orderId: string) =>
  (await account(orderId)).status

test("a payment is created at Stripe with the shop's ids, paid in a browser, confirmed by a callback, and refunded", async () => {
  const { order, intent, stripe, call, account, admin } = await useStripeShop()
  const orderId = await order(10_000)
  const { id, client_secret, redirect_url, provider } = await intent(orderId)
  expect({ provider, redirect_url }).toEqual({ provider: 'stripe', redirect_url: undefined })
  expect(client_secret).toBe(stripe.intentOf(id).client_secret)
  expect(stripe.requests).toEqual([
    {
      path: '/v1/payment_intents',
      key: id,
      params: {
        amount: '10000',
        currency: 'eur',
        capture_method: 'automatic',
        metadata: { order_id: orderId, payment_id: id, operation_id: id },
        automatic_payment_methods: { enabled: 'true' },
        expand: { 0: 'latest_charge.refunds' }
      }
    }
  ])
  pays(stripe, id)
  expect(await call(lastOf(stripe))).toMatchObject({ status: 200, json: { received: true } })
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')

  const refund = await admin.post(`/api/admin/payments/${id}/refund`, { amount: 4_000, reason: 'broken' })
  expect(refund.json).toMatchObject({ status: 'partially_refunded', refunded: 4_000, refunding: 0 })
  await call(lastOf(stripe))
  expect(await account(orderId)).toMatchObject({ captured: 10_000, refunded: 4_000 })
})

test('a Stripe authorization is captured in part, or voided', async () => {
  const shop = await useStripeShop({ CARTWRIGHT__PAYMENTS__CAPTURE: 'manual' })
  const { order, intent, stripe, call, admin } = shop
  const held = async () => {
    const orderId = await order(10_000)
    const { id } = await intent(orderId)
    pays(stripe, id)
    await call(lastOf(stripe))
    await until('the payment is authorized', async () => (await statusOf(shop, orderId)) === 'authorized')
    return id
  }
  const taken = await admin.post(`/api/admin/payments/${await held()}/capture`, { amount: 6_000 })
  expect(taken.json).toMatchObject({ status: 'succeeded', captured: 6_000, authorized: 0 })
  const voided = await admin.post(`/api/admin/payments/${await held()}/void`)
  expect(voided.json).toMatchObject({ status: 'canceled', captured: 0, authorized: 0 })
})

test('a Stripe operation with a lost response is repeated with its key, and searched once the key has expired', async () => {
  const { order, intent, stripe, hurry, payment, sql } = await useStripeShop()
  stripe.fault('drop', 'limit', 'error')
  const { id } = await intent(await order())
  const settled = async () => (await payment(id)).operations[0].state
  for (const attempts of [2, 3, 4]) {
    expect(await settled()).toBe('unknown')
    await hurry()
    await until('the operation is sent', async () => (await payment(id)).operations[0].attempts === attempts)
  }
  await until('the operation has succeeded', async () => (await settled()) === 'succeeded')
  expect(new Set(stripe.requests.map(({ key }) => key))).toEqual(new Set([id]))
  expect(stripe.intents()).toHaveLength(1)

  stripe.fault('drop')
  const other = await intent(await order())
  await sql(`update payments.operations set sent_at = sent_at - interval '2 days' where id = $1`, [other.id])
  await hurry()
  await until(
    'the payment is found at the provider',
    async () => (await payment(other.id)).object_id !== null
  )
  expect(stripe.intents()).toHaveLength(2)
})

test('a wrong Stripe API key fails no payment, and an operation that Stripe rejects fails', async () => {
  const wrong = 'sk_test_wrong'
  const shop = await useStripeShop({ CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY: wrong })
  const { id, status } = await shop.intent(await shop.order())
  expect(status).toBe('pending')
  const { operations } = await shop.payment(id)
  expect(operations).toMatchObject([{ state: 'unknown', error: expect.stringContaining('responded 401') }])
  expect(JSON.stringify([operations, shop.log])).not.toContain(wrong)

  const { order, intent, payment, stripe, account } = await useStripeShop()
  stripe.engine.operations.create = () => {
    throw new SandboxApiError(
      400,
      'invalid_request_error',
      'amount_too_small',
      'Amount must be at least 50 cents'
    )
  }
  const orderId = await order(10)
  const refused = await intent(orderId)
  expect(refused).toMatchObject({ status: 'canceled' })
  expect((await payment(refused.id)).operations).toMatchObject([
    { state: 'failed', error: 'amount_too_small: Amount must be at least 50 cents' }
  ])
  expect(await account(orderId)).toMatchObject({ committed: 0, status: 'unpaid' })
})

test('a buyer who returns from Stripe sees the payment immediately, and Stripe gets one request', async () => {
  const { order, intent, stripe, call, as, buyer, payment, account, changes, request, tokenOf, sql } =
    await useStripeShop()
  const orderId = await order(10_000)
  const { id } = await intent(orderId)
  const path = `/api/payments/by-order/${orderId}/confirm`
  const confirm = async () => (await as(buyer).post(path)).json.items[0].status
  const { engine, intentOf } = stripe
  engine.commit(engine.operations.requireAction(intentOf(id), 'pm_1'))
  const none = { status: 404, json: { code: 'PAYMENT_ORDER_NOT_FOUND' } }
  expect(await as(customer()).post(path)).toMatchObject(none)
  expect(stripe.reads).toEqual([])
  expect([await confirm(), stripe.reads.length]).toEqual(['requires_action', 1])
  pays(stripe, id)
  /** Moves the last request to Stripe this many seconds into the past. */
  const requestedAgo = (seconds: number) =>
    sql('update payments.payments set inquired_at = now() - make_interval(secs => $1)', [seconds])
  await requestedAgo(-60)
  expect([await confirm(), stripe.reads.length]).toEqual(['requires_action', 1])
  await requestedAgo(5)
  const began = performance.now()
  const confirming = Array.from({ length: 6 }, () => as(buyer).post(path))
  const answers = await Promise.all([...confirming, call(lastOf(stripe))])
  expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(200))
  // On a slow machine the pause may have passed, which allows another request.
  if (performance.now() - began < 5_000) expect(stripe.reads.length).toBeLessThanOrEqual(2)
  await until('the account is paid', async () => (await statusOf({ account }, orderId)) === 'paid')
  expect(await payment(id)).toMatchObject({ captured: 10_000, authorized: 0 })
  expect(
    changes.filter(({ previousStatus: before, status }) => before === 'unpaid' && status === 'paid')
  ).toHaveLength(1)
  // The payment is closed, so Stripe gets no request.
  await requestedAgo(5)
  const before = stripe.reads.length
  expect([await confirm(), stripe.reads.length]).toEqual(['succeeded', before])

  const guests = await order(500, null)
  const headers = { 'x-order-token': tokenOf(guests) }
  const ofGuest = `/api/payments/guest/by-order/${guests}/confirm`
  expect(await request('POST', ofGuest, { headers })).toMatchObject({ status: 200, json: { items: [] } })
  expect(await request('POST', ofGuest, { headers: { 'x-order-token': 'ort_x' } })).toMatchObject(none)
  for (const other of [guests, newId()])
    expect(await as(buyer).post(`/api/payments/by-order/${other}/confirm`)).toMatchObject(none)
})

test('currencies that have other minor units at Stripe are not offered there', async () => {
  const { order, intent, stripe, sql, as, buyer } = await useStripeShop()
  const [orderId, other] = [await order(), await order()]
  await sql(`update payments.accounts set currency = 'ISK'`)
  expect(await intent(orderId)).toMatchObject({ provider: 'sandbox', currency: 'ISK' })
  const named = { order_id: other, provider: 'stripe' }
  expect(await as(buyer).post('/api/payments/intent', named)).toMatchObject({
    status: 409,
    json: { code: 'PAYMENT_CURRENCY_UNSUPPORTED', providers: ['sandbox', 'manual'] }
  })
  expect(stripe.requests).toEqual([])
})

test("Stripe's client is loaded with the first request, and never in a shop without Stripe", async () => {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ resolve: (name, context, next) => { loaded.push(name); return next(name, context) } })
    const is = () => loaded.includes('stripe')
    await import('./src/app.ts')
    const { createStripePaymentProvider } = await import('./src/modules/payments/providers/stripe.ts')
    const http = { send: async () => { throw new Error('the server does not respond') } }
    const settings = { secret_key: 'sk', publishable_key: 'pk', webhook_secrets: [], url: '' }
    const before = is()
    const provider = createStripePaymentProvider({ http, settings, capture: 'automatic' })
    const answer = await provider.send(Buffer.from('{"path":"/v1/payment_intents","body":{}}'), 'key')
    console.log(JSON.stringify([before, is(), answer.kind]))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  expect(JSON.parse(stdout)).toEqual([false, true, 'unknown'])
})

test('a Stripe callback is accepted when one of the secrets signed it within five minutes', async () => {
  const { order, intent, stripe, call, sql } = await useStripeShop()
  const { id } = await intent(await order())
  pays(stripe, id)
  const event = lastOf(stripe)
  const refused = (reason: string) => ({ status: 400, json: { code: 'PAYMENT_CALLBACK_REFUSED', reason } })
  expect(await call(event, { secret: 'whsec_another' })).toMatchObject(refused('wrong'))
  expect(await call(event, { at: Date.now() - 310_000 })).toMatchObject(refused('old'))
  expect(await call(event, { at: Date.now() + 310_000 })).toMatchObject(refused('future'))
  expect(await sql('select id from payments.events')).toEqual([])
  for (const secret of WEBHOOK_SECRETS) expect((await call(event, { secret })).status).toBe(200)
  expect(await sql('select id from payments.events')).toHaveLength(1)
})

/** A payment that was declined, required authentication, was paid, refunded twice (one failed), and disputed. */
async function history(stripe: StripeServer, of: string) {
  const { engine, intentOf } = stripe
  const { operations, commit } = engine
  commit(operations.fail(intentOf(of), 'pm_1'))
  commit(operations.requireAction(intentOf(of), 'pm_2'))
  commit(operations.pay(intentOf(of), 'pm_2'))
  const payment_intent = intentOf(of).id
  const failing = commit(operations.refund({ payment_intent, amount: 4_000 }))
  commit(operations.failRefund(engine.refund(failing.id)))
  commit(operations.refund({ payment_intent, amount: 2_500 }))
  commit(operations.dispute(intentOf(of)))
  return stripe.events()
}
const END = {
  status: 'partially_refunded',
  captured: 10_000,
  authorized: 0,
  refunded: 2_500,
  refunding: 0,
  disputed: 10_000
}

const factsIn = (event: unknown) => {
  const read = isStripeEvent(event) ? readStripeEvent(event) : undefined
  return read?.kind === 'event' ? read.facts : []
}

/** A payment that was authorized, captured in part, and refunded twice, once in the dashboard. */
async function partHistory({ engine, intentOf, events }: StripeServer, of: string) {
  const { operations, commit } = engine
  commit(operations.pay(intentOf(of), 'pm_1'))
  commit(operations.capture(intentOf(of), { amount_to_capture: 6_000 }))
  const payment_intent = intentOf(of).id
  commit(operations.refund({ payment_intent, amount: 2_000, metadata: { operation_id: newId() } }))
  commit(operations.refund({ payment_intent, amount: 1_000 }))
  return events()
}
const PART_END = { ...END, captured: 6_000, refunded: 3_000, disputed: 0, isOpen: false }

test.each([
  ['captured immediately', 'automatic', history, 8, END],
  ['authorized, and captured in part', 'manual', partHistory, 5, PART_END]
])(
  "Stripe's events of a payment that is %s give the same state in every order, up to three times each",
  async (...given) => {
    const [, capture_method, happen, count, end] = given
    const stripe = await useStripe()
    const metadata = { payment_id: 'p' }
    const body = { amount: 10_000, currency: 'eur', capture_method, metadata }
    stripe.engine.commit(stripe.engine.operations.create(body))
    const events = await happen(stripe, 'p')
    expect(events).toHaveLength(count)
    const factsOf = (event: unknown) => factsIn(event).map(addRankToPaymentFact)
    const shuffled = fc
      .array(fc.integer({ min: 1, max: 3 }), { minLength: events.length, maxLength: events.length })
      .map(times => events.flatMap((event, index) => Array.from({ length: times[index] ?? 1 }, () => event)))
      .chain(received => fc.shuffledSubarray(received, { minLength: received.length }))
    fc.assert(
      fc.property(shuffled, received => {
        expect(derivePaymentState(received.flatMap(factsOf), [])).toMatchObject(end)
      }),
      { numRuns: 1_000 }
    )
  }
)

test("Stripe's events give the same state when a shop gets them concurrently in any order", async () => {
  const { order, intent, stripe, call, payment, account, admin } = await useStripeShop()
  const orderId = await order(10_000)
  const { id } = await intent(orderId)
  const events = await history(stripe, id)
  const received = [...events, ...events.toReversed(), ...events]
  for (const { status } of await Promise.all(received.map(event => call(event)))) expect(status).toBe(200)
  await until('all events are applied', async () => {
    const { json } = await admin.get('/api/admin/payments/events?state=applied&count=true')
    return json.total === events.length
  })
  expect(await payment(id)).toMatchObject(END)
  expect(await account(orderId)).toMatchObject({ status: 'partially_refunded', is_disputed: true })
})

test("Stripe's charge events report authorizations, voids and captures", () => {
  const charge = {
    id: 'ch_1',
    object: 'charge',
    amount: 900,
    currency: 'eur',
    status: 'succeeded',
    captured: false,
    amount_captured: 0,
    refunded: false,
    payment_intent: 'pi_1',
    metadata: { order_id: 'o' }
  }
  const received = (change: object, type = 'charge.updated', version: { api_version?: string } = {}) => {
    const read = readStripeEvent({ id: 'evt', type, ...version, data: { object: { ...charge, ...change } } })
    if (read.kind !== 'event') throw new Error(read.error)
    return { about: read.about, facts: read.facts.map(({ kind, status, amount }) => [kind, status, amount]) }
  }
  expect(received({}).about).toEqual({ objectId: 'pi_1', orderId: 'o', paymentId: null })
  expect(received({ payment_intent: null }).about).toBeNull()
  expect(received({}).facts).toEqual([['authorization', 'held', 900]])
  expect(received({ refunded: true }).facts).toEqual([['authorization', 'released', 900]])
  expect(received({ status: 'failed' }).facts).toEqual([])
  expect(received({ captured: true, amount_captured: 600 }).facts).toEqual([
    ['authorization', 'released', 900],
    ['capture', 'succeeded', 600]
  ])
  expect(received({}, 'charge.expired').facts).toEqual([['authorization', 'expired', 900]])
})

test('an authorization released by a Stripe capture is not a refund, and an ambiguous refund event is quarantined', async () => {
  const { order, intent, stripe, call, account, admin, payment } = await useStripeShop({
    CARTWRIGHT__PAYMENTS__CAPTURE: 'manual'
  })
  const orderId = await order(10_000)
  const { id } = await intent(orderId)
  pays(stripe, id)
  await call(lastOf(stripe))
  await until('the payment is authorized', async () => (await account(orderId)).status === 'authorized')
  await admin.post(`/api/admin/payments/${id}/capture`, { amount: 6_000 })
  await admin.post(`/api/admin/payments/${id}/refund`, { amount: 3_000, reason: 'broken' })

  // As older API versions report them: the shop's refund, and the 4,000 that the capture released.
  const old = { api_version: '2024-11-20.acacia' }
  const ours = lastOf(stripe)
  const [refund] = stripe.engine.refundsOfIntent(stripe.intentOf(id).id)
  const rest = { ...refund, id: 're_of_the_rest', amount: 4_000, metadata: {} }
  const oldCharge = {
    id: stripe.intentOf(id).latest_charge,
    object: 'charge',
    amount: 10_000,
    currency: 'eur',
    status: 'succeeded',
    captured: true,
    amount_captured: 6_000,
    amount_refunded: 7_000,
    payment_intent: stripe.intentOf(id).id,
    metadata: {},
    refunds: { data: [rest, refund] }
  }
  await call({ ...ours, ...old })
  await call({ ...ours, ...old, id: 'evt_1', type: 'charge.refund.updated', data: { object: rest } })
  await call({ ...ours, ...old, id: 'evt_2', type: 'charge.refunded', data: { object: oldCharge } })
  const list = async (state: string) =>
    (await admin.get(`/api/admin/payments/events?state=${state}&count=true`)).json
  await until('three events are applied', async () => (await list('applied')).total === 3)
  expect(await list('quarantined')).toMatchObject({
    items: [{ reason: expect.stringContaining('2024-11-20.acacia') }],
    total: 1
  })
  expect(await payment(id)).toMatchObject({ status: 'partially_refunded', captured: 6_000, refunded: 3_000 })
  expect(await account(orderId)).toMatchObject({ captured: 6_000, refunded: 3_000, refunding: 0 })
})

test('a Stripe refund whose callback arrives before its response is counted once', async () => {
  const { order, intent, stripe, call, account, admin, hurry } = await useStripeShop()
  const orderId = await order(10_000)
  const { id } = await intent(orderId)
  pays(stripe, id)
  await call(lastOf(stripe))
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')
  stripe.fault('drop')
  const refund = (amount: number) =>
    admin.post(`/api/admin/payments/${id}/refund`, { amount, reason: 'broken' })
  expect((await refund(6_000)).json).toMatchObject({ refunding: 6_000, refunded: 0 })
  for (const event of [lastOf(stripe), lastOf(stripe)]) await call(event)
  await until('the refund is recorded', async () => (await account(orderId)).refunded === 6_000)
  expect(await account(orderId)).toMatchObject({ refunding: 0, status: 'partially_refunded' })
  // So the rest can be refunded before the response arrives.
  expect((await refund(4_000)).json).toMatchObject({ refunded: 10_000, refunding: 0 })
  await hurry()
  await until('no operation is open', async () => {
    const { json } = await admin.get('/api/admin/payments/reconciliation')
    return json.open_operations === 0
  })
  expect(await account(orderId)).toMatchObject({ refunded: 10_000, refunding: 0, status: 'refunded' })
})
