import { expect, test } from 'vitest'
import { brokenEffects, brokenPayments, type EffectRow, type PaymentRequestRow } from './effects.ts'
import { moneyOf } from './judge-operations.ts'
import type { ProviderLedger } from './ledger.ts'
import { brokenRefunds, type OrderMoney } from './money.ts'
import {
  missingKinds,
  OPERATION_KINDS,
  type Operation,
  type OperationKind,
  type OperationSubject
} from './operations.ts'
import { refundModeOf } from './plans.ts'
import { brokenLevels, type LevelRow } from './stock.ts'

const operation = (
  kind: OperationKind,
  about: OperationSubject = {},
  more: Partial<Operation> = {}
): Operation => ({
  kind,
  about,
  note: `chaos-${kind}`,
  key: 'key',
  request: { method: 'POST', path: '/' },
  state: 'acknowledged',
  isUncertain: false,
  ...more
})
const effect = (kind: OperationKind, name: string, amount: number | null = null, times = 1): EffectRow => ({
  note: `chaos-${kind}`,
  effect: name,
  times,
  amount
})

test('the chaos judge lists the kinds of operations that never succeeded', () => {
  const operations = OPERATION_KINDS.map(kind => operation(kind))
  expect(missingKinds({ operations })).toEqual([])
  const refused = operations.map(each =>
    each.kind === 'refund lines' ? { ...each, state: 'refused' as const } : each
  )
  expect(missingKinds({ operations: refused })).toEqual(['refund lines'])
  expect(missingKinds({ operations: [] })).toEqual(OPERATION_KINDS)
})

const REFUND = operation('refund amount', { orderId: 'order', amount: 300 })
const REFUNDED = [
  effect('refund amount', 'history: refund'),
  effect('refund amount', 'credit', 300),
  effect('refund amount', 'refund, decided', 300),
  effect('refund amount', 'refund, requested', 300)
]

test('the chaos judge accepts an acknowledged operation with one effect and a rejected one without effects', () => {
  expect(brokenEffects([REFUND], REFUNDED)).toEqual([])
  expect(brokenEffects([operation('adjust stock', {}, { state: 'refused' })], [])).toEqual([])
  const parts = REFUNDED.map(row => (row.effect.endsWith('requested') ? { ...row, times: 2 } : row))
  expect(brokenEffects([REFUND], parts)).toEqual([])
})

const changed = (name: string, change: Partial<EffectRow>) =>
  REFUNDED.map(row => (row.effect === name ? { ...row, ...change } : row))

test.each([
  ['executed again', 'had the effect "credit" 2 times', [REFUND], changed('credit', { times: 2 })],
  ['never executed', 'had the effect "history: refund" 0 times', [REFUND], []],
  [
    'recorded with another amount',
    'had the effect "credit" with 299',
    [REFUND],
    changed('credit', { amount: 299 })
  ],
  ['paid twice', 'requested to refund 600', [REFUND], changed('refund, requested', { amount: 600 })],
  ['refused, and executed', 'was refused, and had the effect', [{ ...REFUND, state: 'refused' }], REFUNDED],
  ['of no operation', 'a note of no operation', [], REFUNDED],
  [
    'an adjustment applied twice',
    'had the effect "stock: adjust" 2 times',
    [operation('adjust stock', { amount: 2 })],
    [effect('adjust stock', 'stock: adjust', 4, 2)]
  ],
  [
    'a shipment recorded twice',
    'had the effect "shipment" 2 times',
    [operation('ship')],
    [effect('ship', 'shipment', null, 2)]
  ],
  [
    'one cancellation recorded twice',
    'had the effect "history: cancel" 2 times',
    [operation('cancel')],
    [effect('cancel', 'history: cancel', null, 2)]
  ]
] as [string, string, Operation[], EffectRow[]][])(
  'the chaos judge finds an effect that is %s',
  (_, words, operations, rows) => {
    expect(brokenEffects(operations, rows).join('\n')).toContain(words)
  }
)

test('the chaos judge expects as many captures and voids at providers as were acknowledged', () => {
  const about = { paymentId: 'payment', orderId: 'order' }
  const capture = operation('capture', about)
  const row = (kind: PaymentRequestRow['kind'], times: number): PaymentRequestRow => ({
    payment_id: 'payment',
    order_id: 'order',
    kind,
    times
  })
  expect(brokenPayments([capture], [row('capture', 1)])).toEqual([])
  expect(brokenPayments([capture, operation('ship', about)], [row('capture', 2)])).toEqual([])
  expect(brokenPayments([capture], [row('capture', 2)]).join()).toContain('1 times, and requested 2 times')
  expect(brokenPayments([capture], [row('void', 1)]).join()).toContain(
    'was acknowledged, and never requested'
  )
  expect(brokenPayments([operation('void payment', about)], [row('void', 1)])).toEqual([])
  expect(brokenPayments([], [row('void', 1)])).toHaveLength(1)
})

/** Ids of orders that are refunded by payment, by amount and by line. */
const [PAYMENTS, AMOUNTS, LINES] = ['000000', '000001', '000002'] as const
const sold = (id: string, more: Partial<OrderMoney> = {}): OrderMoney => ({
  id,
  number: id,
  isCanceled: false,
  total: 1_000,
  lines: [{ line: 1, quantity: 3, payable: 1_000 }],
  taken: 1_000,
  given: 0,
  refused: 0,
  tendered: 0,
  returned: 0,
  isKeptBack: false,
  ...more
})
const units = (kind: OperationKind, orderId: string, quantity = 1): Operation =>
  operation(
    kind,
    { orderId },
    { request: { method: 'POST', path: '/', body: { lines: [{ line: 1, quantity }] } } }
  )

test('the chaos judge expects the refunded amount to be the sum of the acknowledged refunds', () => {
  expect([PAYMENTS, AMOUNTS, LINES].map(refundModeOf)).toEqual(['payments', 'amounts', 'lines'])
  const operations = [
    operation('refund payment', { orderId: PAYMENTS, amount: 250 }),
    operation('refund payment', { orderId: PAYMENTS, amount: 50 }),
    operation('refund payment', { orderId: PAYMENTS, amount: 999 }, { state: 'refused' }),
    operation('refund amount', { orderId: AMOUNTS, amount: 100 }),
    units('refund lines', LINES),
    units('cancel lines', LINES)
  ]
  const right = [sold(PAYMENTS, { given: 300 }), sold(AMOUNTS, { given: 100 }), sold(LINES, { given: 667 })]
  expect(brokenRefunds(operations, right)).toEqual([])
  for (const given of [0, 299, 600])
    expect(brokenRefunds(operations, [sold(PAYMENTS, { given })]).join()).toContain(
      `${given} was refunded, and 300`
    )
  // The provider rejected part of the refund.
  expect(brokenRefunds(operations, [sold(AMOUNTS, { given: 40, refused: 60 })])).toEqual([])
  expect(brokenRefunds(operations, [sold(AMOUNTS, { given: 200 })])).toHaveLength(1)
  expect(brokenRefunds(operations, [sold(LINES, { given: 666 })])).toHaveLength(1)
  const all = [...operations, units('cancel lines', LINES)]
  expect(brokenRefunds(all, [sold(LINES, { given: 1_000 })])).toEqual([])
})

test('the chaos judge expects no refund of unpaid amounts, and a full refund of a canceled order', () => {
  const operations = [operation('refund amount', { orderId: AMOUNTS, amount: 100 })]
  expect(brokenRefunds(operations, [sold(AMOUNTS, { taken: 900 })])).toEqual([])
  expect(brokenRefunds(operations, [sold(AMOUNTS, { taken: 2_000, given: 100 })])).toEqual([])
  const canceled = { isCanceled: true, taken: 2_000 }
  expect(brokenRefunds([], [sold(LINES, { ...canceled, given: 2_000 })])).toEqual([])
  expect(brokenRefunds([], [sold(LINES, { ...canceled, given: 1_000 })])).toHaveLength(1)
  expect(brokenRefunds([], [sold(LINES, { ...canceled, given: 3_000, isKeptBack: true })])).toEqual([])
})

test('the chaos judge expects refunds to payments first, and what is left to tenders', () => {
  const operations = [operation('refund amount', { orderId: AMOUNTS, amount: 700 })]
  const split = { taken: 600, tendered: 400 }
  const judge = (id: string, more: Partial<OrderMoney>) =>
    brokenRefunds(operations, [sold(id, { ...split, ...more })]).join()
  expect(judge(AMOUNTS, { given: 600, returned: 100 })).toBe('')
  expect(judge(AMOUNTS, { given: 600, returned: 99 })).toContain('99 was returned to tenders, and 100')
  expect(judge(AMOUNTS, { given: 300, returned: 400 })).toContain('300 was refunded, and 600')
  expect(judge(PAYMENTS, { returned: 1 })).toContain('1 was returned to tenders, and 0')
  const canceled = { isCanceled: true, given: 600 }
  expect(judge(LINES, { ...canceled, returned: 400 })).toBe('')
  expect(judge(LINES, { ...canceled, returned: 0 })).toContain('0 was returned to tenders, and 400')
})

test("the chaos judge takes an order's amounts from the ledger, and counts rejected refunds separately", () => {
  const about = { id: 'o', number: 'N', isCanceled: false, total: 10, lines: [] }
  const order = { ...about, taken: 1, given: 2, tendered: 0, returned: 0 }
  const ledger = {
    intents: [{ id: 'pi', metadata: { order_id: 'o' } }],
    charges: [
      { payment_intent: 'pi', amount_captured: 10 },
      { payment_intent: 'other', amount_captured: 99 }
    ],
    refunds: [{ payment_intent: 'pi', amount: 3, status: 'failed', metadata: { operation_id: 'made' } }]
  } as unknown as ProviderLedger
  const refused = ['made', 'refused'].map(id => ({ id, order_id: 'o', amount: 5 }))
  expect(moneyOf([order], refused, ledger, { keptBack: new Set(['pi']) })).toEqual([
    { ...order, taken: 11, given: 5, refused: 5, isKeptBack: true }
  ])
})

const GOODS = {
  locations: ['main', 'annex'] as const,
  counts: [
    { variantId: 'mug', location: 'main', onHand: 100 },
    { variantId: 'bowl', location: 'annex', onHand: 7 }
  ]
}
const order = { items: [{ id: 1, variant_id: 'mug' }] }
const shipped = operation(
  'ship',
  {},
  {
    answer: { ...order, shipments: [{ tracking_number: 'chaos-ship', lines: [{ line: 1, quantity: 4 }] }] }
  }
)
const moved = (kind: OperationKind) => ({ ...units(kind, 'order', 2), answer: order })

test('the chaos judge expects units on hand to be counted plus adjusted, minus shipped, plus returned units', () => {
  const operations = [
    shipped,
    moved('return'),
    moved('return without restock'),
    operation('adjust stock', { variantId: 'bowl', location: 'annex', amount: 5 }),
    operation('count stock', { variantId: 'bowl', location: 'annex', amount: 50 }),
    operation('adjust stock', { variantId: 'bowl', location: 'annex', amount: -3 }),
    operation('adjust stock', { variantId: 'mug', location: 'main', amount: 9 }, { state: 'refused' })
  ]
  const levels = (mugs: number, bowls: number): LevelRow[] => [
    { variant_id: 'mug', location: 'main', on_hand: mugs },
    { variant_id: 'bowl', location: 'annex', on_hand: bowls }
  ]
  expect(brokenLevels(GOODS, operations, levels(98, 47))).toEqual([])
  for (const mugs of [94, 96, 100])
    expect(brokenLevels(GOODS, operations, levels(mugs, 47))).toEqual([
      `mug at main: 98 units were expected by the operations, and ${mugs} are on hand`
    ])
  for (const bowls of [44, 50, 7]) expect(brokenLevels(GOODS, operations, levels(98, bowls))).toHaveLength(1)
  const voided = { ...operation('void shipment', { shipment: shipped }), answer: order }
  expect(brokenLevels(GOODS, [...operations, voided], levels(102, 47))).toEqual([])
})
