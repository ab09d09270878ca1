import { expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../../../../test/support/command.ts'
import { createTestDatabase } from '../../../../test/support/database.ts'
import { usePayments } from '../../../../test/support/payments.ts'
import { provide } from '../../../kernel/ports.ts'
import { openTestShop } from '../../../testing.ts'
import { paymentsModule } from '../index.ts'
import { createManualPaymentProvider } from './manual.ts'
import { type PaymentProvider, paymentProviderPort } from './port.ts'

const provider = (fields: Partial<PaymentProvider> = {}): PaymentProvider => ({
  ...createManualPaymentProvider({ methods: ['card'], bankTransfer: '', isProduction: false }),
  kind: 'client',
  ...fields
})
const provides = [provide(paymentProviderPort, 'mollie', provider())]
const offered = async ({ request }: Pick<Awaited<ReturnType<typeof usePayments>>, 'request'>) =>
  (await request('GET', '/api/payments/methods')).json.items.map(
    (each: { provider: string }) => each.provider
  )

test('a payment provider of another module takes payments and comes before the sandbox and manual methods', async () => {
  const shop = await usePayments({ provides })
  expect(await offered(shop)).toEqual(['mollie', 'sandbox', 'manual'])
  const { id, provider: used } = await shop.intent(await shop.order(700))
  expect(used).toBe('mollie')
  const captured = await shop.admin.post(`/api/admin/payments/${id}/capture`)
  expect(captured.json).toMatchObject({ provider: 'mollie', status: 'succeeded', captured: 700 })
})

test('payments.default_provider takes any provided name', async () => {
  const settings = { CARTWRIGHT__PAYMENTS__DEFAULT_PROVIDER: 'manual' }
  expect(await offered(await usePayments({ provides, settings }))).toEqual(['manual', 'mollie', 'sandbox'])
})

test('a retired payment provider takes no new payment and settles its existing ones', async () => {
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const before = await usePayments({ provides, databaseUrl: database.url })
  const { id } = await before.intent(await before.order(700))
  const settings = { CARTWRIGHT__PAYMENTS__RETIRED_PROVIDERS: '[mollie]' }
  const shop = await usePayments({ provides, databaseUrl: database.url, settings })
  expect(await offered(shop)).toEqual(['sandbox', 'manual'])
  expect((await shop.intent(await shop.order())).provider).toBe('sandbox')
  const order_id = await shop.order()
  const rejected = await shop.as(shop.buyer).post('/api/payments/intent', { order_id, provider: 'mollie' })
  expect(rejected.json).toMatchObject({ code: 'PAYMENT_METHOD_UNKNOWN', methods: [] })
  expect((await shop.admin.post(`/api/admin/payments/${id}/capture`)).json.captured).toBe(700)
})

test('a shop does not start with settings that name a payment provider that no module provides', async () => {
  const settings = {
    CARTWRIGHT__PAYMENTS__DEFAULT_PROVIDER: 'adyen',
    CARTWRIGHT__PAYMENTS__RETIRED_PROVIDERS: '[klarna]'
  }
  const named = (setting: string, name: string) =>
    `\n  payments.${setting} names the payment provider ${name}, which no enabled module provides: choose one of sandbox, manual`
  await expect(openTestShop({ modules: [paymentsModule], settings })).rejects.toThrow(
    `The shop cannot start:${named('default_provider', 'adyen')}${named('retired_providers', 'klarna')}`
  )
})

test('a shop does not start without a payment provider that has unsettled payments, and doctor reports it', async () => {
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const shop = await usePayments({ provides, databaseUrl: database.url })
  const start = async () => {
    const without = await openTestShop({
      modules: [paymentsModule],
      databaseUrl: database.url,
      isMigrated: true
    })
    await without.close()
  }
  const open = await shop.intent(await shop.order())
  const pendingRefund = await shop.intent(await shop.order())
  const unanswered = await shop.intent(await shop.order())
  const capture = (id: string) => shop.admin.post(`/api/admin/payments/${id}/capture`)
  for (const { id } of [pendingRefund, unanswered]) await capture(id)
  await shop.sql('update payments.payments set refunding = 1 where id = $1', [pendingRefund.id])
  await shop.sql(
    `update payments.operations set state = 'unknown', settled_at = null, next_check_at = now() + interval '1 day'
     where payment_id = $1 and kind = 'capture'`,
    [unanswered.id]
  )
  const problem = (count: number) =>
    `The shop cannot start:\n  the payment provider mollie is gone, and ${count} of its payments are not settled: enable it again, and remove it when they are; payments.retired_providers: [mollie] keeps it from taking new ones`
  await expect(start()).rejects.toThrow(problem(3))
  const { code, out } = await runCommandLine(['doctor'], { settings: { DATABASE_URL: database.url } })
  expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining(problem(3)) })
  const program = await runCommandLine(['modules'], { settings: { DATABASE_URL: database.url } })
  expect(program.code).toBe(0)

  await capture(open.id)
  await expect(start()).rejects.toThrow(problem(2))
  await shop.sql('update payments.payments set refunding = 0')
  await shop.sql(
    `update payments.operations set state = 'succeeded', settled_at = now(), next_check_at = null where settled_at is null`
  )
  await start()
})

test('a refund at a payment provider that is gone is rejected before it is recorded, and possible when it is back', async () => {
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const shop = await usePayments({ provides, databaseUrl: database.url })
  const orderId = await shop.order(700)
  const { id } = await shop.intent(orderId)
  await shop.admin.post(`/api/admin/payments/${id}/capture`)
  const without = await usePayments({ databaseUrl: database.url })
  const refund = (admin: typeof shop.admin) =>
    admin.post(`/api/admin/payments/${id}/refund`, { amount: 700, reason: 'broken' })
  const rejected = { code: 'PAYMENT_PROVIDER_REMOVED', provider: 'mollie' }
  expect(await refund(without.admin)).toMatchObject({ status: 409, json: rejected })
  const ofOrder = { id, amountMinor: 700, reason: 'broken', actor: null }
  await expect(without.withAccount(orderId, account => account.refund(ofOrder))).rejects.toMatchObject({
    code: rejected.code
  })
  const recorded = await shop.sql(`select id from payments.operations where kind = 'refund'`)
  expect([recorded, (await shop.payment(id)).refunding]).toEqual([[], 0])
  expect((await refund(shop.admin)).json).toMatchObject({ status: 'refunded', refunded: 700 })
})
