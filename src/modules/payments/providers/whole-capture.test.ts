import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { usePayments } from '../../../../test/support/payments.ts'
import { newId } from '../../../kernel/ids.ts'
import { provide } from '../../../kernel/ports.ts'
import { paymentProviderContract } from '../../../testing.ts'
import { createManualPaymentProvider } from './manual.ts'
import { type PaymentProvider, paymentProviderPort } from './port.ts'

const HOUR_SECONDS = 3_600

/** A provider that authorizes each payment in its response, and captures an authorization only as a whole. */
function wholeCaptureProvider() {
  const sent: string[] = []
  const { respondLocally: _, ...manual } = createManualPaymentProvider({
    methods: ['card'],
    bankTransfer: '',
    isProduction: false
  })
  const send: PaymentProvider['send'] = async (request, key) => {
    const { kind, paymentId: objectId, amount, total, currency } = JSON.parse(request.toString())
    sent.push(`${kind} ${amount}`)
    const of = { objectId, amount: total, currency }
    if (kind === 'create') {
      const expiresAt = Math.floor(Date.now() / 1_000) + HOUR_SECONDS
      const facts = [
        { ...of, kind: 'intent', status: 'authorized' },
        { ...of, kind: 'authorization', status: 'held', expiresAt }
      ] as const
      return { kind: 'done', paymentObjectId: objectId, facts }
    }
    if (kind !== 'capture') return manual.send(request, key)
    if (amount !== total) return { kind: 'refused', error: 'not the whole amount', facts: [] }
    const facts = [
      { ...of, kind: 'intent', status: 'succeeded' },
      { ...of, kind: 'authorization', status: 'released' },
      { ...of, kind: 'capture', status: 'succeeded' }
    ] as const
    return { kind: 'done', paymentObjectId: objectId, facts }
  }
  const provider: PaymentProvider = {
    ...manual,
    kind: 'client',
    capturable: 'held',
    canCapturePart: false,
    send,
    find: draft => send(manual.prepare(draft), draft.id)
  }
  return { provider, sent }
}

test('a provider that captures only as a whole keeps the contract of a payment provider', async () => {
  const { provider } = wholeCaptureProvider()
  for (const { name, run } of paymentProviderContract({ provider, currency: 'EUR' }))
    await run().catch(error => {
      throw new Error(name, { cause: error })
    })
})

test('a part of an authorization is not sent to a provider that captures only as a whole', async () => {
  const { provider, sent } = wholeCaptureProvider()
  const { admin, order, intent, payment, withAccount, sql, log } = await usePayments({
    provides: [provide(paymentProviderPort, 'whole', provider)],
    settings: { CARTWRIGHT__PAYMENTS__CAPTURE_BEFORE_EXPIRY: 'capture' }
  })
  const orderId = await order()
  const { id } = await intent(orderId)
  await withAccount(orderId, account => account.updateAmountDue(6_000))
  const capture = (body: object) => admin.post(`/api/admin/payments/${id}/capture`, body)
  // Without an amount it would be what is due.
  for (const body of [{ amount: 6_000 }, {}])
    expect(await capture(body)).toMatchObject({
      status: 409,
      json: { code: 'PAYMENT_CAPTURE_WHOLE_ONLY', available: 10_000 }
    })
  // What a shipment and an authorization that expires capture by themselves.
  await withAccount(orderId, account => account.capture({ id: newId(), amountMinor: 6_000, actor: null }))
  await sql(
    `update cartwright.jobs set due_at = now() where handler = 'payments.watch_expiry' and lease is null`
  )
  await until('the expiry is reported', () =>
    log.some(line => line.includes('an authorization expires within a day'))
  )
  expect((await payment(id)).operations.map(({ kind }: { kind: string }) => kind)).toEqual(['create'])
  expect(sent).toEqual(['create 10000'])
  expect((await capture({ amount: 10_000 })).json).toMatchObject({ status: 'succeeded', captured: 10_000 })
})

test('a shipment captures a whole authorization of a provider that captures only as a whole', async () => {
  const { provider, sent } = wholeCaptureProvider()
  const { order, intent, payment, withAccount } = await usePayments({
    provides: [provide(paymentProviderPort, 'whole', provider)]
  })
  const orderId = await order()
  const { id } = await intent(orderId)
  await withAccount(orderId, account => account.capture({ id: newId(), amountMinor: 10_000, actor: null }))
  await until('the payment is captured', async () => (await payment(id)).captured === 10_000)
  expect(new Set(sent)).toEqual(new Set(['create 10000', 'capture 10000']))
})
