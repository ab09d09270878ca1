import { expect, test } from 'vitest'
import { newCharge, newIntent, newRefund } from '../../src/payment-sandbox/objects.ts'
import { differences, type FactRow, type LedgerBooks, type ShopBooks } from './ledger.ts'

/** A payment of 1,000 that was taken, of which 300 went back, as the provider and the shop have it. */
function books() {
  const metadata = { order_id: 'order', payment_id: 'payment' }
  const wanted = { amount: 1_000, currency: 'eur', capture_method: 'automatic', metadata } as const
  const intent = { ...newIntent(0, wanted), status: 'succeeded' }
  const charge = { ...newCharge(0, intent), captured: true, amount_captured: 1_000 }
  const refund = newRefund(0, charge, 300, { operation_id: 'operation' })
  const fact = (kind: string, object_id: string, amount: number): FactRow => ({
    ...{ kind, object_id, amount },
    ...{ status: 'succeeded', source: 'answer' }
  })
  const ledger: LedgerBooks = {
    ...{ intents: [intent], charges: [charge], refunds: [refund], disputes: [], events: [] },
    confirmed: new Map([['evt_1', 'payment_intent.succeeded']]),
    waiting: 0
  }
  const shop: ShopBooks = {
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

test('what shop and provider agree on is right, and each thing that they do not is said', () => {
  const { ledger, shop, intent, charge, refund } = books()
  expect(differences(ledger, shop)).toEqual([])
  const [payment] = shop.payments
  const facts = (change: (fact: FactRow) => FactRow | undefined) => ({
    ...shop,
    facts: shop.facts.flatMap(each => change(each) ?? [])
  })
  const other = { ...newIntent(0, { ...intent, metadata: { order_id: 'order' } }), status: 'canceled' }
  const twice = { ...intent, id: 'pi_other' }
  const canceled = new Map([['order', { due: 1_000, isCanceled: true }]])
  const said: [string, LedgerBooks, ShopBooks][] = [
    ['is none of ours', { ...ledger, intents: [intent, other] }, shop],
    ['is known as null', ledger, { ...shop, payments: [{ ...payment, object_id: null } as never] }],
    ['ours of 999', ledger, { ...shop, payments: [{ ...payment, amount: 999 } as never] }],
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
    ['known to be of 5', ledger, facts(each => (each.kind === 'capture' ? { ...each, amount: 5 } : each))],
    ['known to be of 6', ledger, facts(each => (each.kind === 'intent' ? { ...each, amount: 6 } : each))],
    [
      'known to be failed',
      ledger,
      facts(each => (each.kind === 'capture' ? { ...each, status: 'failed' } : each))
    ],
    ['the provider knows nothing', { ...ledger, refunds: [] }, shop],
    ['made the payment payment more than once', { ...ledger, intents: [intent, twice] }, shop],
    ['made the refund operation', { ...ledger, refunds: [refund, { ...refund, id: 're_other' }] }, shop],
    [
      'of which 1000 is due',
      { ...ledger, refunds: [], charges: [charge, { ...charge, id: 'ch_other' }] },
      shop
    ],
    ['which is no order', ledger, { ...shop, due: new Map() }],
    ['was confirmed, and is not kept', ledger, { ...shop, eventIds: new Set<string>() }]
  ]
  for (const [words, theirs, ours] of said) expect(differences(theirs, ours).join('\n')).toContain(words)
  const over = { ...ledger, intents: [{ ...intent, status: 'canceled' }], charges: [] }
  const toldOtherwise = facts(each =>
    each.kind === 'intent' ? { ...each, status: 'canceled', amount: 99_999 } : each
  )
  expect(differences(over, toldOtherwise).filter(each => each.startsWith('the intent'))).toEqual([])
})
