import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { type PaymentShop, usePayments } from '../../../../test/support/payments.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { diagnoseQuarantinedPaymentEvents } from '../diagnosis.ts'

shareShops()

const DAY_MS = 86_400_000

/** An event that reports a captured payment. */
async function paidEvent(
  { sandbox }: PaymentShop,
  paymentId: string,
  change: { amount?: number } & object = {}
) {
  const intent = await sandbox.intentOf(paymentId)
  const { id, amount, currency } = { ...intent, ...change }
  const charge = { id: `ch_of_${id}`, object: 'charge', amount, currency, status: 'succeeded' }
  const latest_charge = { ...charge, captured: true, amount_captured: amount, amount_refunded: 0 }
  const object = { ...intent, status: 'succeeded', amount_received: amount, latest_charge, ...change }
  return { id: `evt_${newId()}`, object: 'event', type: 'payment_intent.succeeded', data: { object } }
}
const eventsOf = async ({ admin }: PaymentShop, state: string) =>
  (await admin.get(`/api/admin/payments/events?state=${state}&count=true`)).json

/** How many events of a payment were applied. */
const appliedOf = async (shop: PaymentShop, paymentId: string) =>
  (await eventsOf(shop, 'applied&limit=100')).items.filter(
    (item: { payment_id: string }) => item.payment_id === paymentId
  ).length

/** A payment that waits for its customer, after the callback about its creation. */
async function waiting(shop: PaymentShop) {
  const orderId = await shop.order()
  const { id } = await shop.intent(orderId)
  await until('the callback is applied', async () => (await appliedOf(shop, id)) === 1)
  return { orderId, id }
}
const untouched = async (shop: PaymentShop, id: string) =>
  expect(await shop.payment(id)).toMatchObject({ status: 'pending', captured: 0 })

test('a repeated callback of a payment provider is applied once', async () => {
  const shop = await usePayments()
  const { orderId, id } = await waiting(shop)
  const event = await paidEvent(shop, id)
  const answers = await Promise.all(Array.from({ length: 8 }, () => shop.callback(event)))
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, json: { received: true } })
  await until('the account is paid', async () => (await shop.account(orderId)).status === 'paid')
  expect(await shop.account(orderId)).toMatchObject({ captured: 10_000, is_overpaid: false })
  expect(await appliedOf(shop, id)).toBe(2)
})

test('a payment callback with a missing, wrong, old or future signature is rejected and not stored', async () => {
  needsOwnShop()
  const shop = await usePayments()
  const { id } = await waiting(shop)
  const event = await paidEvent(shop, id)
  const before = await shop.sql('select id from payments.events')
  const at = (ms: number) => new Date(Date.now() + ms)
  const unsigned = await shop.request('POST', '/api/payments/callback/sandbox', { body: event })
  const answers = [
    ['unsigned', unsigned],
    ['wrong', await shop.callback(event, { secret: 'another' })],
    ['wrong', await shop.callback(event, { secret: '' })],
    ['old', await shop.callback(event, { at: at(-310_000) })],
    ['old', await shop.callback(event, { at: at(-365 * DAY_MS) })],
    ['future', await shop.callback(event, { at: at(310_000) })]
  ] as const
  for (const [reason, answer] of answers)
    expect(answer).toMatchObject({ status: 400, json: { code: 'PAYMENT_CALLBACK_REFUSED', reason } })
  expect(await shop.sql('select id from payments.events')).toEqual(before)
  await untouched(shop, id)
  const { text } = await shop.request('GET', '/metrics')
  expect(text).toContain(`cartwright_payments_callbacks_total{result="refused"} ${answers.length}`)
  for (const provider of ['manual', 'paypal'])
    expect(await shop.request('POST', `/api/payments/callback/${provider}`, { body: event })).toMatchObject({
      status: 404,
      json: { code: 'PAYMENT_PROVIDER_UNKNOWN' }
    })
})

test('a payment callback that is repeated after a year with a new signature changes nothing', async () => {
  needsOwnShop()
  const shop = await usePayments()
  const { orderId, id } = await waiting(shop)
  const event = await paidEvent(shop, id)
  await shop.callback(event)
  await until('the account is paid', async () => (await shop.account(orderId)).status === 'paid')
  await shop.sql(`update payments.events set received_at = received_at - interval '1 year'`)
  await shop.sql('delete from payments.event_bytes')
  const before = await shop.sql('select * from payments.facts order by kind')
  expect((await shop.callback(event)).status).toBe(200)
  expect((await eventsOf(shop, 'received')).total).toBe(0)
  expect(await shop.sql('select * from payments.facts order by kind')).toEqual(before)
})

test('a payment event with a wrong amount, currency, order or payment is quarantined; it can be retried or discarded', async () => {
  needsOwnShop()
  const shop = await usePayments()
  const { orderId, id } = await waiting(shop)
  const wrong = [
    [{ amount: 9_999 }, 'it is for 9999'],
    [{ currency: 'usd' }, 'it is in USD'],
    [{ metadata: { order_id: newId(), payment_id: id } }, 'it names another order'],
    [{ id: 'pi_another' }, 'its object is not that of the payment']
  ] as const
  for (const [change, reason] of wrong) {
    await shop.callback(await paidEvent(shop, id, change))
    await until(reason, async () =>
      (await eventsOf(shop, 'quarantined')).items.some((item: { reason: string }) => item.reason === reason)
    )
  }
  await untouched(shop, id)
  const { items } = await eventsOf(shop, 'quarantined')
  expect(items).toHaveLength(4)
  expect((await shop.admin.get('/api/admin/payments/reconciliation')).json.events.quarantined).toBe(4)

  // A retry without a change quarantines it again.
  const [first, second, ...others] = items
  const events = '/api/admin/payments/events'
  expect((await shop.admin.post(`${events}/${first.id}/retry`)).status).toBe(204)
  await until('the event is quarantined again', async () => (await eventsOf(shop, 'quarantined')).total === 4)
  await untouched(shop, id)
  // After the payment gets the amount of the event, the event fits.
  await shop.sql('update payments.payments set amount = 9999')
  expect((await shop.admin.post(`${events}/${first.id}/retry`)).status).toBe(204)
  await until('the captured amount is recorded', async () => (await shop.account(orderId)).captured === 9_999)

  const reason = 'a mistake of the provider'
  expect((await shop.admin.post(`${events}/${second.id}/discard`, { reason })).status).toBe(204)
  expect((await eventsOf(shop, 'discarded')).items).toMatchObject([{ id: second.id, reason }])
  expect((await eventsOf(shop, 'quarantined')).items.map(({ id }: { id: string }) => id)).toEqual(
    others.map(({ id }: { id: string }) => id)
  )
  const gone = { status: 404, json: { code: 'PAYMENT_EVENT_NOT_FOUND' } }
  for (const eventId of [second.id, newId()]) {
    expect(await shop.admin.post(`${events}/${eventId}/retry`)).toMatchObject(gone)
    expect(await shop.admin.post(`${events}/${eventId}/discard`, { reason })).toMatchObject(gone)
  }
})

test('a callback that is not JSON, or not a payment event, is quarantined once, and a too large one is rejected', async () => {
  needsOwnShop()
  const shop = await usePayments()
  const strange = [
    '',
    '{',
    '[]',
    'null',
    '{"id":1}',
    '{"id":"evt_1","type":"x"}',
    '\u0000',
    '{"__proto__":{}}'
  ]
  for (const text of [...strange, ...strange])
    expect((await shop.callback(Buffer.from(text))).status).toBe(200)
  expect((await eventsOf(shop, 'quarantined')).total).toBe(strange.length)
  expect((await shop.callback(Buffer.alloc(10_485_760, 'a'))).status).toBe(413)
  const { items, total } = await eventsOf(shop, 'quarantined')
  expect(total).toBe(strange.length)
  // A retry quarantines it again, until an administrator discards it.
  const [event] = items
  expect(event).toMatchObject({ type: 'unreadable', reason: 'the body is not an event', payment_id: null })
  const path = `/api/admin/payments/events/${event.id}`
  expect((await shop.admin.post(`${path}/retry`)).status).toBe(204)
  await until(
    'the event is quarantined again',
    async () => (await eventsOf(shop, 'quarantined')).total === strange.length
  )
  expect((await shop.admin.post(`${path}/discard`, { reason: 'noise' })).status).toBe(204)
  expect((await eventsOf(shop, 'quarantined')).total).toBe(strange.length - 1)
  expect(await shop.sql('select * from payments.facts')).toEqual([])
})

test.each([
  ['without a payment method', { payment_method: undefined }, 'data/object/payment_method is required'],
  ['with an amount as text', { amount: '10000' }, 'data/object/amount must be a whole number'],
  ['with a negative amount', { amount_received: -1 }, 'data/object/amount_received must be a whole number'],
  ['of the wrong object', { object: 'charge' }, 'the charge cannot be read: data/object/']
])(
  'a signed payment event %s is quarantined with the path, and applied once it can be read',
  async (_what, change, reason) => {
    const shop = await usePayments()
    const { orderId, id } = await waiting(shop)
    const quarantined = async () => {
      const { text } = await shop.request('GET', '/metrics')
      return Number(
        /^cartwright_payments_callbacks_total\{result="quarantined"\} (\d+)$/m.exec(text)?.[1] ?? 0
      )
    }
    const before = await quarantined()
    const event = await paidEvent(shop, id)
    const broken = { ...event, data: { object: { ...event.data.object, ...change } } }
    for (const _ of ['once', 'again']) expect((await shop.callback(broken)).status).toBe(200)
    const { items } = await eventsOf(shop, 'quarantined')
    expect(items).toMatchObject([
      { event_id: event.id, type: event.type, reason: expect.stringContaining(reason) }
    ])
    await untouched(shop, id)
    expect(await quarantined()).toBe(before + 1)
    const [check] = diagnoseQuarantinedPaymentEvents(shop.db)
    expect(await check?.find()).toMatchObject({ state: 'warning', detail: expect.stringContaining(reason) })

    // The provider sends it again, well-formed, with another id.
    await shop.callback({ ...event, id: `evt_${newId()}` })
    await until('the account is paid', async () => (await shop.account(orderId)).status === 'paid')
    const path = `/api/admin/payments/events/${items[0].id}`
    expect((await shop.admin.post(`${path}/discard`, { reason: 'noise' })).status).toBe(204)
    expect((await check?.find())?.state).toBe('ok')
  }
)

test('a payment event of an unknown type is ignored, and an early event waits for its payment', async () => {
  const shop = await usePayments()
  const { orderId, id } = await waiting(shop)
  await shop.callback({ id: 'evt_a', type: 'plan.created', data: { object: { object: 'plan', id: 'p' } } })
  expect((await eventsOf(shop, 'ignored')).items).toMatchObject([{ type: 'plan.created' }])

  const event = await paidEvent(shop, id)
  const later = newId()
  const { object } = event.data
  Object.assign(object, { id: 'pi_early', metadata: { order_id: orderId, payment_id: later } })
  object.latest_charge.id = 'ch_early'
  await shop.callback(event)
  const waits = async () =>
    (await eventsOf(shop, 'received')).items.find((item: { event_id: string }) => item.event_id === event.id)
  await until('the event was tried without its payment', async () => (await waits())?.attempts === 1)
  expect(await waits()).toMatchObject({ reason: 'its payment is unknown' })
  await shop.sql(
    `insert into payments.payments (id, order_id, provider, method, amount, currency)
     values ($1, $2, 'sandbox', 'card', 10000, 'EUR')`,
    [later, orderId]
  )
  await shop.hurry()
  await until('the account is paid', async () => (await shop.account(orderId)).status === 'paid')
  // The shop cancels the other payment soon after.
  expect((await shop.payment(id)).captured).toBe(0)
})

test('an event whose payment stays unknown is quarantined', async () => {
  needsOwnShop()
  const shop = await usePayments()
  const { id } = await waiting(shop)
  const event = await paidEvent(shop, id)
  event.data.object.metadata = { order_id: newId(), payment_id: newId() }
  await shop.callback(event)
  await until(
    'the event was tried once',
    async () => (await eventsOf(shop, 'received')).items[0].attempts === 1
  )
  await shop.sql(
    'update payments.events set attempts = 6, next_check_at = now() where next_check_at is not null'
  )
  await until('the event is quarantined', async () => (await eventsOf(shop, 'quarantined')).total === 1)
  const { items } = await eventsOf(shop, 'quarantined')
  expect(items).toMatchObject([{ reason: 'its payment is unknown', payment_id: null }])
  await untouched(shop, id)
  // Its payment exists now, and an administrator retries the event.
  const orderId = await shop.order()
  const { order_id, payment_id } = event.data.object.metadata
  await shop.sql('update payments.accounts set order_id = $1 where order_id = $2', [order_id, orderId])
  await shop.sql(
    `insert into payments.payments (id, order_id, provider, method, amount, currency)
     values ($1, $2, 'sandbox', 'card', 10000, 'EUR')`,
    [payment_id, order_id]
  )
  await shop.sql('update payments.payments set object_id = null where id = $1', [id])
  expect((await shop.admin.post(`/api/admin/payments/events/${items[0].id}/retry`)).status).toBe(204)
  await until('the account is paid', async () => (await shop.account(order_id)).status === 'paid')
})

test('reordered and repeated callbacks of the payment sandbox give the same state', async () => {
  needsOwnShop()
  const shop = await usePayments()
  const { order, intent, act, sandbox, account, payment } = shop
  const orderId = await order()
  await sandbox.ask('/test/webhooks', { hold: true, double: true, reverse: true })
  const { id } = await intent(orderId)
  for (const deed of ['fail', 'require_action', 'pay', 'dispute']) await act(id, deed)
  const { id: object } = await sandbox.intentOf(id)
  const refund = await sandbox.ask('/v1/refunds', { payment_intent: object, amount: 4_000 })
  await sandbox.ask(`/test/refunds/${refund.id}/fail`, {})
  await sandbox.ask('/v1/refunds', { payment_intent: object, amount: 2_500 })
  await sandbox.ask('/test/webhooks', { hold: false })
  await until('all events are applied', async () => (await eventsOf(shop, 'applied')).total === 8)
  expect(await account(orderId)).toMatchObject({
    status: 'partially_refunded',
    captured: 10_000,
    refunded: 2_500,
    disputed: 10_000,
    is_disputed: true,
    is_overpaid: false
  })
  expect(await payment(id)).toMatchObject({ status: 'partially_refunded', authorized: 0 })
})

test('a callback that cannot be applied immediately is stored, and applied by a job', async () => {
  needsOwnShop()
  const shop = await usePayments()
  const { orderId, id } = await waiting(shop)
  const event = await paidEvent(shop, id)
  await shop.sql(
    `alter table payments.facts add constraint none_captured check (kind <> 'capture') not valid`
  )
  expect(await shop.callback(event)).toMatchObject({ status: 200, json: { received: true } })
  expect((await eventsOf(shop, 'received')).items).toMatchObject([{ event_id: event.id }])
  await untouched(shop, id)
  const { text } = await shop.request('GET', '/metrics')
  expect(text).toContain('cartwright_payments_callbacks_total{result="received"} 2')
  await shop.sql('alter table payments.facts drop constraint none_captured')
  await shop.hurry()
  await until('the account is paid', async () => (await shop.account(orderId)).status === 'paid')
  expect((await eventsOf(shop, 'received')).total).toBe(0)
})
