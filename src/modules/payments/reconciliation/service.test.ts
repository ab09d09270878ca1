import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { type PaymentShop, usePayments } from '../../../../test/support/payments.ts'
import { useStripe } from '../../../../test/support/stripe.ts'

const DAY_MS = 86_400_000
const earlier = () => new Date(Date.now() - 60_000)

async function paid(shop: PaymentShop) {
  const orderId = await shop.order()
  const { id } = await shop.intent(orderId)
  await shop.act(id, 'pay')
  await until('the account is paid', async () => (await shop.account(orderId)).status === 'paid')
  return { orderId, id }
}
/** Deletes the last facts, as after a failover to a replica that lost the last commits. */
async function forget({ sql }: PaymentShop) {
  await sql('delete from payments.facts')
  await sql('delete from payments.events')
  await sql(`delete from payments.operations where kind = 'refund'`)
  await sql(
    `update payments.payments set status = 'pending', is_open = true, captured = 0, refunded = 0, object_id = null`
  )
  await sql(`update payments.accounts set status = 'unpaid', captured = 0, refunded = 0`)
}
const stateOf = async ({ sql }: PaymentShop) => ({
  facts: await sql('select kind, object_id, status, amount from payments.facts order by kind, object_id'),
  accounts: await sql('select order_id, status, captured, refunded from payments.accounts order by order_id'),
  payments: await sql('select id, object_id, status, captured, refunded from payments.payments order by id')
})

test('payment facts that the database lost are listed, recorded on request, and not found again', async () => {
  const shop = await usePayments()
  const { api, admin, sandbox, changes } = shop
  const { id } = await paid(shop)
  const whole = await paid(shop)
  const { id: object } = await sandbox.intentOf(id)
  await admin.post(`/api/admin/payments/${id}/refund`, { amount: 4_000, reason: 'broken' })
  await sandbox.ask('/v1/refunds', { payment_intent: object, amount: 500 })
  await until('all events are applied', async () => {
    const { json } = await admin.get('/api/admin/payments/events?state=applied&count=true')
    return json.total === 6
  })
  const before = await stateOf(shop)
  await forget(shop)
  const lost = await stateOf(shop)

  const since = earlier()
  const listed = await api.reconcile({ since, record: false })
  expect(listed).toMatchObject({ looked: 4, total: listed.findings.length, recorded: 0, quarantined: 0 })
  expect(listed.findings).toHaveLength(before.facts.length)
  expect(listed.findings).toContainEqual({
    provider: 'sandbox',
    kind: 'fact_missing',
    objectId: object,
    paymentId: id,
    outcome: 'found',
    orderId: (await shop.payment(id)).order_id,
    detail: expect.stringMatching(/^refund re_\w+ of 500 EUR is succeeded$/)
  })
  expect(await stateOf(shop)).toEqual(lost)

  const [first, second] = [changes.length, await api.reconcile({ since, record: true })]
  expect(second).toMatchObject({ total: listed.total, recorded: listed.total, quarantined: 0 })
  expect(await stateOf(shop)).toEqual(before)
  expect(changes.slice(first)).toContainEqual(
    expect.objectContaining({ orderId: whole.orderId, status: 'paid' })
  )
  let looked = 0
  const again = await api.reconcile({ since, record: true }, now => {
    looked = now
  })
  expect([again.total, looked]).toEqual([0, 4])
  // Payments that started within a week before may have been captured since. Older ones are not compared.
  expect(await api.reconcile({ since: new Date(Date.now() + DAY_MS), record: false })).toMatchObject({
    looked: 2
  })
  expect(await api.reconcile({ since: new Date(Date.now() + 8 * DAY_MS), record: false })).toMatchObject({
    looked: 0
  })
})

test('provider objects of an unknown order, or that contradict their payment, are quarantined', async () => {
  const shop = await usePayments()
  const { api, admin, sql } = shop
  const { id, orderId } = await paid(shop)
  const strange = await paid(shop)
  await forget(shop)
  await sql('delete from payments.operations')
  await sql('delete from payments.payments where id = $1', [id])
  await sql('update payments.payments set amount = 9999 where id = $1', [strange.id])
  const since = earlier()
  const report = await api.reconcile({ since, record: true })
  expect(report).toMatchObject({ recorded: 0, quarantined: report.total })
  expect(report.findings).toContainEqual(
    expect.objectContaining({ kind: 'payment_unknown', paymentId: id, orderId, outcome: 'quarantined' })
  )
  // It is quarantined once, and not found again.
  const again = await api.reconcile({ since, record: true })
  expect(again.findings.filter(({ kind }) => kind === 'payment_unknown')).toEqual([])
  const { json } = await admin.get('/api/admin/payments/events')
  expect(json.items.map(({ source, reason }: Record<string, string>) => [source, reason]).sort()).toEqual([
    ['poll', 'it is for 10000'],
    ['poll', 'its payment is unknown']
  ])
  // Once the order exists again, the event is applied.
  await sql('update payments.payments set amount = 10000')
  await sql(
    `insert into payments.payments (id, order_id, provider, method, amount, currency)
     values ($1, $2, 'sandbox', 'card', 10000, 'EUR')`,
    [id, orderId]
  )
  for (const event of json.items) await admin.post(`/api/admin/payments/events/${event.id}/retry`)
  for (const each of [orderId, strange.orderId])
    await until('the account is paid', async () => (await shop.account(each)).status === 'paid')
  expect((await api.reconcile({ since, record: false })).total).toBe(0)
})

test("reconciliation reads Stripe's lists page by page and skips objects of others; an outage is an error", async () => {
  const stripe = await useStripe()
  const shop = await usePayments({ settings: stripe.settings })
  const { api, account } = shop
  const { operations, commit } = stripe.engine
  const orderIds: string[] = []
  for (let nth = 0; nth < 5; nth += 1) {
    const orderId = await shop.order()
    const { id } = await shop.intent(orderId)
    commit(operations.pay(stripe.intentOf(id), 'pm_card_visa'))
    orderIds.push(orderId)
    if (nth === 0) commit(operations.dispute(stripe.intentOf(id)))
  }
  commit(operations.create({ amount: 500, currency: 'eur' }))
  const since = earlier()
  const report = await api.reconcile({ since, record: true })
  // An intent, an authorization and a capture each, and the dispute. The object of another user is skipped.
  expect(report).toMatchObject({ looked: 7, total: 5 * 3 + 1, recorded: 5 * 3 + 1 })
  for (const orderId of orderIds)
    expect(await account(orderId)).toMatchObject({ status: 'paid', captured: 10_000 })
  expect(await account(orderIds[0] as string)).toMatchObject({ is_disputed: true })
  expect((await api.reconcile({ since, record: true })).total).toBe(0)

  const wrong = { ...stripe.settings, CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY: 'sk_test_wrong' }
  const locked = await usePayments({ settings: wrong })
  await expect(locked.api.reconcile({ since, record: true })).rejects.toThrow(
    /^stripe does not respond: responded 401/
  )
})

test('a provider object that cannot be read is reported with its path, and quarantined once', async () => {
  const stripe = await useStripe()
  const shop = await usePayments({ settings: stripe.settings })
  const { id } = await shop.intent(await shop.order())
  const { id: object } = stripe.intentOf(id)
  stripe.garble(object, { amount_received: '10000' })
  const since = earlier()
  const found = {
    provider: 'stripe',
    kind: 'object_unreadable',
    objectId: object,
    paymentId: null,
    orderId: null,
    detail:
      'the payment_intent cannot be read: data/object/amount_received must be a whole number from 0 to 9007199254740991'
  }
  const listed = await shop.api.reconcile({ since, record: false })
  expect(listed.findings).toEqual([{ ...found, outcome: 'found' }])
  const recorded = await shop.api.reconcile({ since, record: true })
  expect(recorded).toMatchObject({ quarantined: 1, findings: [{ ...found, outcome: 'quarantined' }] })
  expect((await shop.api.reconcile({ since, record: true })).total).toBe(0)

  const events = async () => (await shop.admin.get('/api/admin/payments/events')).json.items
  const [event] = await events()
  expect(event).toMatchObject({ source: 'poll', reason: found.detail })
  // A retry reads the stored bytes again, and still cannot parse them.
  await shop.admin.post(`/api/admin/payments/events/${event.id}/retry`)
  await until('the event is quarantined again', async () => (await events())[0]?.reason === found.detail)
})
