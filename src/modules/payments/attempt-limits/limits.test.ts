import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { usePayments } from '../../../../test/support/payments.ts'
import { signed, useStripe } from '../../../../test/support/stripe.ts'

const LIMIT = 3
const [HERE, ELSEWHERE] = [{ 'x-forwarded-for': '192.0.2.1' }, { 'x-forwarded-for': '198.51.100.7' }]
const REFUSED = { status: 429, json: { code: 'PAYMENT_ATTEMPTS_LIMITED' } }

/** A shop behind a proxy that allows three failed attempts an hour. */
async function useAttempts() {
  const shop = await usePayments({
    settings: {
      CARTWRIGHT__SERVER__TRUST_PROXY: 'true',
      CARTWRIGHT__PAYMENTS__FAILED_ATTEMPTS_PER_HOUR: String(LIMIT)
    }
  })
  const { as, buyer, order, act, sql } = shop
  const begin = (order_id: string, headers: object, fields: object = {}) =>
    as(buyer).post('/api/payments/intent', { order_id, ...fields }, headers as Record<string, string>)
  const failures = async () =>
    (await sql(`select object_id from payments.facts where kind = 'attempt' and status = 'failed'`)).length
  /** Starts a payment from this address, and has this many cards declined. */
  const decline = async (times: number) => {
    const orderId = await order()
    const { json } = await begin(orderId, HERE)
    for (let count = 0; count < times; count += 1) {
      const before = await failures()
      await act(json.id, 'fail')
      await until('the attempt is counted as failed', async () => (await failures()) > before)
    }
    return { orderId, id: json.id as string }
  }
  return { ...shop, begin, decline }
}

test('a network with too many failed payment attempts can start no card payment for a while', async () => {
  const { order, begin, decline, request, sql } = await useAttempts()
  await decline(LIMIT - 1)
  const orderId = await order()
  expect((await begin(await order(), HERE)).status).toBe(201)
  await decline(1)
  const refused = await begin(orderId, HERE)
  expect(refused).toMatchObject(REFUSED)
  const seconds = Number(refused.headers['retry-after'])
  expect(seconds > 3_500 && seconds <= 3_600).toBe(true)
  expect((await request('GET', '/metrics')).text).toContain(
    'cartwright_payments_attempts_refused_total{subject="network"} 1'
  )
  expect((await begin(orderId, HERE, { provider: 'manual' })).status).toBe(201)
  expect((await begin(await order(), ELSEWHERE)).status).toBe(201)
  const tables = await sql('select to_jsonb(payments) as row from payments.payments')
  expect(JSON.stringify(tables)).not.toContain('192.0.2.1')
  await sql(`update payments.facts set seen_at = seen_at - interval '1 hour'`)
  expect((await begin(await order(), HERE)).status).toBe(201)
})

test('an order with too many failed payment attempts accepts no card payment from any network for a while', async () => {
  const { begin, decline } = await useAttempts()
  const { orderId } = await decline(LIMIT)
  expect(await begin(orderId, ELSEWHERE)).toMatchObject(REFUSED)
})

test('payment attempts that failed before a payment succeeded do not count against the limit', async () => {
  const { account, act, begin, decline, order } = await useAttempts()
  const { id, orderId } = await decline(LIMIT - 1)
  await act(id, 'pay')
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')
  expect((await begin(await order(), HERE)).status).toBe(201)
  await decline(LIMIT - 1)
  expect((await begin(await order(), HERE)).status).toBe(201)
})

test('the open payment of an order with too many failed attempts is voided, so no more cards can be tried with it', async () => {
  const stripe = await useStripe()
  const settings = { ...stripe.settings, CARTWRIGHT__PAYMENTS__FAILED_ATTEMPTS_PER_HOUR: String(LIMIT) }
  const shop = await usePayments({ settings })
  const { operations, commit } = stripe.engine
  const orderId = await shop.order()
  const { id } = await shop.intent(orderId)
  const tell = async () => {
    const { body, headers } = signed(stripe.events().at(-1))
    const { status, text } = await shop.request('POST', '/api/payments/callback/stripe', { body, headers })
    expect(status, text).toBe(200)
  }
  const tryCard = (nth: number) => commit(operations.fail(stripe.intentOf(id), `pm_card_${nth}`))
  const status = () => stripe.intentOf(id).status
  for (let nth = 1; nth < LIMIT; nth += 1) {
    tryCard(nth)
    await tell()
  }
  const failed = `select count(*)::int as failed from payments.facts where kind = 'attempt' and status = 'failed'`
  await until(
    'all failed attempts are recorded',
    async () => (await shop.sql(failed))[0]?.failed === LIMIT - 1
  )
  expect(status()).toBe('requires_payment_method')
  tryCard(LIMIT)
  await tell()
  await until('the payment is canceled at the provider', () => status() === 'canceled')
  await until(
    'the payment is canceled in the shop',
    async () => (await shop.payment(id)).status === 'canceled'
  )
  expect((await shop.account(orderId)).status).toBe('unpaid')
})
