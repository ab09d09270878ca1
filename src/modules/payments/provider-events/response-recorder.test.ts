import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { type PaymentShop, usePayments } from '../../../../test/support/payments.ts'

const quarantined = async ({ admin }: Pick<PaymentShop, 'admin'>) =>
  (await admin.get('/api/admin/payments/events')).json.items

test('a payment that the provider created with a wrong amount is not offered, and can be voided', async () => {
  const shop = await usePayments()
  const { order, sandbox, admin, account } = shop
  const orderId = await order()
  await sandbox.ask('/test/webhooks', { hold: true })
  await sandbox.fault('strange')
  const { id, ...payment } = await shop.intent(orderId)
  expect(payment).toMatchObject({ status: 'pending', amount: 10_000 })
  expect(payment.redirect_url ?? payment.client_secret).toBeUndefined()
  expect(await quarantined(shop)).toMatchObject([
    { source: 'answer', type: 'answer', payment_id: id, reason: 'it is for 99999' }
  ])
  expect((await shop.payment(id)).facts).toEqual([])
  await sandbox.fault('strange')
  const voided = await admin.post(`/api/admin/payments/${id}/void`)
  expect(voided.json).toMatchObject({ status: 'canceled' })
  // The response is stored as received.
  expect((await shop.payment(id)).facts).toMatchObject([
    { kind: 'intent', status: 'canceled', amount: 99_999 }
  ])
  expect(await account(orderId)).toMatchObject({ status: 'unpaid', committed: 0 })
})

test('a refund whose response has a wrong amount stays unknown, and no other refund replaces it', async () => {
  const shop = await usePayments()
  const { order, sandbox, admin, account, act, hurry } = shop
  const orderId = await order()
  const { id } = await shop.intent(orderId)
  await act(id, 'pay')
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')
  await sandbox.ask('/test/webhooks', { hold: true })
  await sandbox.fault('strange', 2)
  const refund = (amount: number) =>
    admin.post(`/api/admin/payments/${id}/refund`, { amount, reason: 'broken' })
  expect((await refund(6_000)).json).toMatchObject({ refunding: 6_000, refunded: 0 })
  expect(await quarantined(shop)).toMatchObject([
    { source: 'answer', payment_id: id, reason: 'it reports a refund of 99999 EUR' }
  ])
  expect((await admin.get('/api/admin/payments/operations')).json.items).toMatchObject([
    { kind: 'refund', state: 'unknown', error: 'it reports a refund of 99999 EUR' }
  ])
  expect(await refund(6_000)).toMatchObject({ status: 409, json: { code: 'PAYMENT_REFUND_TOO_MUCH' } })
  await hurry()
  await until(
    'the operation is sent again',
    async () => (await shop.payment(id)).operations.at(-1).attempts === 2
  )
  expect(await quarantined(shop)).toHaveLength(1)
  await hurry()
  await until('the refund is recorded', async () => (await account(orderId)).refunded === 6_000)
})

test('a polled payment with a wrong amount is quarantined once, and applied when the amount is right', async () => {
  const shop = await usePayments()
  const { order, sandbox, admin, account, act, hurry, sql } = shop
  const orderId = await order()
  // Before any event of the sandbox, because a callback on its way would be quarantined first.
  await sandbox.ask('/test/webhooks', { hold: true })
  const { id } = await shop.intent(orderId)
  await act(id, 'pay')
  await sql('update payments.payments set amount = 9999')
  const pollsSoFar = async () => Number((await sql('select polls from payments.payments'))[0]?.polls)
  const askAgain = async () => {
    const before = await pollsSoFar()
    await until('the payment is polled', async () => {
      // Repeated, because a run that is just ending misses what is due now.
      await hurry()
      return (await pollsSoFar()) > before
    })
  }
  await askAgain()
  await until('the event is quarantined', async () => (await quarantined(shop)).length > 0)
  const events = await quarantined(shop)
  // The same response is not stored twice.
  for (let time = 0; time < 3; time += 1) await askAgain()
  expect(await quarantined(shop)).toEqual(events)
  const [event] = events
  expect(event).toMatchObject({ source: 'poll', payment_id: id, reason: 'it is for 10000' })
  expect(await account(orderId)).toMatchObject({ status: 'unpaid', captured: 0 })
  await sql('update payments.payments set amount = 10000')
  for (const { id } of events)
    expect((await admin.post(`/api/admin/payments/events/${id}/retry`)).status).toBe(204)
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')
  await until('no event is quarantined', async () => (await quarantined(shop)).length === 0)
})
