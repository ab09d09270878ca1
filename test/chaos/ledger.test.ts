import { expect, test } from 'vitest'
import { newSandboxCharge, newSandboxIntent, newSandboxRefund } from '../../src/payment-sandbox/objects.ts'
import { type FactRow, ledgerDifferences, type ProviderLedger, type ShopPayments } from './ledger.ts'

/** A captured payment of 1,000 with a refund of 300, as the provider and the shop have it. */
function books() {
  const metadata = { order_id: 'order', payment_id: 'payment' }
  const wanted = { amount: 1_000, currency: 'eur', capture_method: 'automatic', metadata } as const
  const intent = { ...newSandboxIntent(0, wanted), status: 'succeeded' }
  const charge = { ...newSandboxCharge(0, intent), captured: true, amount_captured: 1_000 }
  const refund = newSandboxRefund(0, charge, 300, { operation_id: 'operation' })
  const fact = (kind: string, object_id: string, amount: number): FactRow => ({
    kind,
    object_id,
    amount,
    status: 'succeeded',
    source: 'answer'
  })
  const ledger: ProviderLedger = {
    intents: [intent],
    charges: [charge],
    refunds: [refund],
    disputes: [],
    events: [],
    confirmed: new Map([['evt_1', 'payment_intent.succeeded']]),
    waiting: 0
  }
  const shop: ShopPayments = {
    payments: [{ id: 'payment', object_id: intent.id, amount: 1_000, currency: 'EUR' }],
    facts: [
      fact('intent', intent.id, 1_000),
      fact('capture', charge.id, 1_000),
      fact('refund', refund.id, 300)
    ],
    eventIds: new Set(['evt_1']),
    takenLate: new Set(),
    keptBack: new Set(),
    due: new Map([['order', { due: 1_000, isCanceled: false }]])
  }
  return { ledger, shop, intent, charge, refund }
}

test('for equal ledgers of shop and provider the chaos judge reports nothing, and for each difference one sentence', () => {
  const { ledger, shop, intent, charge, refund } = books()
  expect(ledgerDifferences(ledger, shop)).toEqual([])
  const [payment] = shop.payments
  const facts = (change: (fact: FactRow) => FactRow | undefined) => ({
    ...shop,
    facts: shop.facts.flatMap(each => change(each) ?? [])
  })
  const other = { ...newSandboxIntent(0, { ...intent, metadata: { order_id: 'order' } }), status: 'canceled' }
  const twice = { ...intent, id: 'pi_other' }
  const canceled = new Map([['order', { due: 1_000, isCanceled: true }]])
  const said: [string, ProviderLedger, ShopPayments][] = [
    ['is unknown to the shop', { ...ledger, intents: [intent, other] }, shop],
    ['is stored with the id null', ledger, { ...shop, payments: [{ ...payment, object_id: null } as never] }],
    ['the shop has 999', ledger, { ...shop, payments: [{ ...payment, amount: 999 } as never] }],
    [
      'can still take money',
      { ...ledger, intents: [{ ...intent, status: 'requires_capture' }] },
      { ...shop, due: canceled }
    ],
    [
      'the shop has no fact of the refund',
      ledger,
      facts(each => (each.kind === 'refund' ? undefined : each))
    ],
    ['the shop has 5', ledger, facts(each => (each.kind === 'capture' ? { ...each, amount: 5 } : each))],
    ['the shop has 6', ledger, facts(each => (each.kind === 'intent' ? { ...each, amount: 6 } : each))],
    [
      'the shop has it as failed',
      ledger,
      facts(each => (each.kind === 'capture' ? { ...each, status: 'failed' } : each))
    ],
    ['that the provider does not have', { ...ledger, refunds: [] }, shop],
    ['executed the payment payment more than once', { ...ledger, intents: [intent, twice] }, shop],
    ['executed the refund operation', { ...ledger, refunds: [refund, { ...refund, id: 're_other' }] }, shop],
    ['and 1000 is due', { ...ledger, refunds: [], charges: [charge, { ...charge, id: 'ch_other' }] }, shop],
    ['which is not an order', ledger, { ...shop, due: new Map() }],
    ['was confirmed, and is not stored', ledger, { ...shop, eventIds: new Set<string>() }]
  ]
  for (const [words, theirs, ours] of said)
    expect(ledgerDifferences(theirs, ours).join('\n')).toContain(words)
  const over = { ...ledger, intents: [{ ...intent, status: 'canceled' }], charges: [] }
  const toldOtherwise = facts(each =>
    each.kind === 'intent' ? { ...each, status: 'canceled', amount: 99_999 } : each
  )
  expect(ledgerDifferences(over, toldOtherwise).filter(each => each.startsWith('the intent'))).toEqual([])
})
