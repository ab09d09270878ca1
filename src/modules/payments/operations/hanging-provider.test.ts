import { expect, test, vi } from 'vitest'
import { heldByRequests, NOTHING_HELD } from '../../../../test/support/held.ts'
import { usePayments } from '../../../../test/support/payments.ts'
import { provide } from '../../../kernel/ports.ts'
import { createManualPaymentProvider } from '../providers/manual.ts'
import { type PaymentProvider, paymentProviderPort } from '../providers/port.ts'
import { createPaymentProviderRegistry } from '../providers/registry.ts'

// It is called, like a provider elsewhere.
const { respondLocally: _, ...manual } = createManualPaymentProvider({
  methods: ['card'],
  bankTransfer: '',
  isProduction: false
})

test('while a payment provider hangs, requests that wait for it hold no request slot, no connection and no lock', async () => {
  const hanging: (() => void)[] = []
  const slow = <A>(work: () => Promise<A>): Promise<A> =>
    new Promise(resolve => hanging.push(() => resolve(work())))
  const provider: PaymentProvider = {
    ...manual,
    kind: 'client',
    callbacks: { verify: () => 'wrong', read: () => ({ kind: 'unreadable', error: '' }) },
    send: (request, key) => slow(() => manual.send(request, key)),
    fetch: payment => slow(() => manual.fetch(payment))
  }
  const shop = await usePayments({ provides: [provide(paymentProviderPort, 'slow', provider)] })
  const whileHanging = async <A>(response: Promise<A>): Promise<A> => {
    await expect.poll(() => hanging.length).toBe(1)
    await expect.poll(() => heldByRequests(shop)).toEqual(NOTHING_HELD)
    hanging.shift()?.()
    return response
  }
  const orderId = await shop.order(700)
  const { id } = await whileHanging(shop.intent(orderId))
  const confirmed = await whileHanging(shop.as(shop.buyer).post(`/api/payments/by-order/${orderId}/confirm`))
  expect(confirmed.status).toBe(200)
  const captured = await whileHanging(shop.admin.post(`/api/admin/payments/${id}/capture`))
  expect(captured.json).toMatchObject({ captured: 700 })
  const refund = { amount: 200, reason: 'broken' }
  const refunded = await whileHanging(shop.admin.post(`/api/admin/payments/${id}/refund`, refund))
  expect(refunded.json).toMatchObject({ refunded: 200 })
})

test('a call of a payment provider without a response is unknown after ten seconds', async () => {
  vi.useFakeTimers()
  try {
    const providers = createPaymentProviderRegistry({
      read: () => [provide(paymentProviderPort, 'slow', manual)],
      settings: { default_provider: 'auto', retired_providers: [] },
      onRecovered: () => {}
    })
    const call = providers.call('slow', () => new Promise<never>(() => {}))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await call).toEqual({ kind: 'unknown', error: expect.stringContaining('within 10000 ms') })
  } finally {
    vi.useRealTimers()
  }
})
