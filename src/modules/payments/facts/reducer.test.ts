import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addRankToPaymentFact,
  PAYMENT_FACT_STATUS_RANKS,
  type PaymentFact,
  type PaymentFactKind
} from './fact.ts'
import { deriveOrderPaymentAccountState, derivePaymentState, type PaymentState } from './reducer.ts'

const fact = (kind: PaymentFactKind, status: string, amount = 100, objectId = `${kind}_1`): PaymentFact =>
  ({ kind, status, amount, objectId, currency: 'EUR' }) as PaymentFact
const reduce = (facts: readonly PaymentFact[], refunds: Parameters<typeof derivePaymentState>[1] = []) =>
  derivePaymentState(facts.map(addRankToPaymentFact), refunds)

const someFact = fc
  .constantFrom(...(Object.keys(PAYMENT_FACT_STATUS_RANKS) as PaymentFactKind[]))
  .chain(kind =>
    fc.record({
      kind: fc.constant(kind),
      status: fc.constantFrom(...Object.keys(PAYMENT_FACT_STATUS_RANKS[kind])),
      objectId: fc.constantFrom('a', 'b', 'c'),
      amount: fc.integer({ min: 1, max: 4 }).map(n => n * 25),
      currency: fc.constant('EUR')
    })
  ) as fc.Arbitrary<PaymentFact>
const someFacts = fc.array(someFact, { maxLength: 12 })
/** The same facts in another order, some of them repeated. */
const twoOrders = someFacts.chain(facts =>
  fc.tuple(
    fc.constant(facts),
    fc.shuffledSubarray([...facts, ...facts, ...facts], { minLength: facts.length * 3 })
  )
)

describe('the state derived from facts', () => {
  test('the state of a payment is the same for its facts in any order and with any repetition', () => {
    const met = new Map<string, number>()
    fc.assert(
      fc.property(twoOrders, ([reported, shuffled]) => {
        const state = reduce(reported)
        met.set(state.status, (met.get(state.status) ?? 0) + 1)
        expect(reduce(shuffled)).toEqual(state)
      }),
      { numRuns: 5_000 }
    )
    for (const status of [
      ...['pending', 'requires_action', 'authorized', 'succeeded', 'failed', 'canceled'],
      ...['partially_refunded', 'refunded']
    ])
      expect(met.get(status), status).toBeGreaterThan(20)
  })

  test('the state of a payment is the same for any split of its facts into known and new ones', () => {
    fc.assert(
      fc.property(someFacts, someFacts, (early, late) => {
        expect(reduce([...early, ...late])).toEqual(reduce([...late, ...early, ...late]))
      }),
      { numRuns: 2_000 }
    )
  })

  test('the state of a payment equals a plain sum of the latest fact of each object', () => {
    fc.assert(
      fc.property(someFacts, facts => {
        // An independent implementation: sort, and keep the last fact of each object.
        const last: Record<string, PaymentFact> = {}
        const order = (one: PaymentFact) =>
          Object.values(PAYMENT_FACT_STATUS_RANKS[one.kind]).indexOf(
            (PAYMENT_FACT_STATUS_RANKS[one.kind] as Record<string, number>)[one.status] as never
          ) *
            1_000 +
          one.amount
        for (const one of [...facts].sort((a, b) => order(a) - order(b)))
          last[`${one.kind}/${one.objectId}`] = one
        let [captured, refunded, disputed] = [0, 0, 0]
        for (const { kind, status, amount } of Object.values(last)) {
          if (kind === 'capture' && status === 'succeeded') captured += amount
          if (kind === 'refund' && status === 'succeeded') refunded += amount
          if (kind === 'dispute' && status !== 'won') disputed += amount
        }
        expect(reduce(facts)).toMatchObject({ captured, refunded, disputed })
      }),
      { numRuns: 2_000 }
    )
  })
})

describe('one payment', () => {
  test.each<[string, PaymentFact[], Partial<PaymentState>]>([
    ['of which nothing is known is pending', [], { status: 'pending', authorized: 0 }],
    ['waits for the customer', [fact('attempt', 'requires_action')], { status: 'requires_action' }],
    ['failed', [fact('attempt', 'failed'), fact('attempt', 'requires_action')], { status: 'failed' }],
    ['is held', [fact('authorization', 'held')], { status: 'authorized', authorized: 100 }],
    [
      'is held in part when a part was taken',
      [fact('authorization', 'held'), fact('capture', 'succeeded', 40)],
      { status: 'succeeded', authorized: 60, captured: 40 }
    ],
    [
      'is voided',
      [fact('intent', 'canceled'), fact('authorization', 'held')],
      { status: 'canceled', authorized: 0 }
    ],
    ['ran out', [fact('authorization', 'expired'), fact('authorization', 'held')], { status: 'canceled' }],
    [
      'was captured although it was voided',
      [fact('intent', 'canceled'), fact('capture', 'succeeded')],
      { status: 'succeeded', captured: 100 }
    ],
    [
      'came back from the bank',
      [fact('capture', 'failed'), fact('capture', 'succeeded')],
      { status: 'failed', captured: 0 }
    ],
    [
      'was refunded, until the bank sent that back',
      [fact('capture', 'succeeded'), fact('refund', 'failed'), fact('refund', 'succeeded')],
      { status: 'succeeded', refunded: 0 }
    ],
    [
      'is disputed and stays what it was',
      [fact('capture', 'succeeded'), fact('dispute', 'open', 70)],
      { status: 'succeeded', disputed: 70 }
    ],
    [
      'was disputed in vain',
      [fact('capture', 'succeeded'), fact('dispute', 'won', 70), fact('dispute', 'open', 70)],
      { disputed: 0 }
    ]
  ])('the state of a payment is derived from its facts: a payment %s', (_, facts, state) => {
    expect(reduce(facts)).toMatchObject(state)
    expect(reduce(facts.toReversed())).toMatchObject(state)
  })

  test('a requested refund counts once, as pending until a fact about it arrives', () => {
    const requested = [{ id: 'ours', amount: 30 }]
    const paid = fact('capture', 'succeeded')
    const reported = (status: string) => ({ ...fact('refund', status, 30, 're_1'), operationId: 'ours' })
    expect(reduce([paid], requested).refunding).toBe(30)
    expect(reduce([paid, reported('pending')], requested).refunding).toBe(30)
    expect(reduce([paid, reported('succeeded')], requested)).toMatchObject({
      refunding: 0,
      refunded: 30,
      status: 'partially_refunded'
    })
    // A refund from the provider's dashboard is another one.
    expect(reduce([paid, fact('refund', 'succeeded', 30, 're_2')], requested)).toMatchObject({
      refunding: 30,
      refunded: 30
    })
  })

  test('each refund of a payment counts once while its facts arrive in any order, up to three times each', () => {
    // Two refunds of the shop, of which one fails later; one from the dashboard; and a dispute of the rest.
    const of = (refund: string, amount: number, operationId: string | null, ...statuses: string[]) =>
      statuses.map(status => ({ ...fact('refund', status, amount, refund), operationId }))
    const facts: PaymentFact[] = [
      ...[fact('intent', 'succeeded'), fact('capture', 'pending'), fact('capture', 'succeeded')],
      ...of('re_1', 30, 'one', 'pending', 'succeeded'),
      ...of('re_2', 20, 'other', 'pending', 'succeeded', 'failed'),
      ...of('re_3', 5, null, 'succeeded'),
      ...[fact('dispute', 'open', 65), fact('dispute', 'won', 65)]
    ]
    const requested = { one: 30, other: 20 }
    const steps = [...facts, 'one' as const, 'other' as const]
    const orders = fc
      .array(fc.integer({ min: 1, max: 3 }), { minLength: steps.length, maxLength: steps.length })
      .map(times => steps.flatMap((step, nth) => Array.from({ length: times[nth] ?? 1 }, () => step)))
      .chain(reported => fc.shuffledSubarray(reported, { minLength: reported.length }))
    fc.assert(
      fc.property(orders, reported => {
        const known: PaymentFact[] = []
        const open = new Map(Object.entries(requested))
        for (const step of reported) {
          if (typeof step !== 'string') known.push(step)
          // The response also reports the refund.
          else if (open.delete(step))
            known.push(...of(step === 'one' ? 're_1' : 're_2', requested[step], step, 'pending'))
          const { refunded, refunding } = reduce(
            known,
            Array.from(open, ([id, amount]) => ({ id, amount }))
          )
          const hasFailed = known.some(({ kind, status }) => kind === 'refund' && status === 'failed')
          const byHand = known.some(({ objectId }) => objectId === 're_3')
          expect(refunded + refunding).toBe(30 + (hasFailed ? 0 : 20) + (byHand ? 5 : 0))
        }
        expect(reduce(known, [])).toMatchObject({
          status: 'partially_refunded',
          captured: 100,
          authorized: 0,
          refunded: 35,
          refunding: 0,
          disputed: 0,
          isOpen: false
        })
      }),
      { numRuns: 300 }
    )
  })
})

describe('an order', () => {
  const payment = (amount: number, ...facts: PaymentFact[]) => ({ ...reduce(facts), amount })
  const taken = (amount: number) => payment(amount, fact('capture', 'succeeded', amount))
  const refundedOf = (amount: number, back: number) =>
    payment(amount, fact('capture', 'succeeded', amount), fact('refund', 'succeeded', back))

  test.each([
    ['unpaid', 100, [payment(100)]],
    ['unpaid', 100, []],
    ['paid', 0, []],
    ['authorized', 100, [payment(100, fact('authorization', 'held'))]],
    ['unpaid', 100, [payment(60, fact('authorization', 'held', 60))]],
    ['partially_paid', 100, [taken(60), payment(40)]],
    ['paid', 100, [taken(60), taken(40)]],
    ['paid', 100, [taken(100), refundedOf(100, 100)]],
    // Refunding a double payment leaves the order paid. Refunding more does not.
    ['partially_refunded', 100, [refundedOf(100, 1), refundedOf(100, 100)]],
    ['partially_refunded', 100, [refundedOf(100, 1)]],
    ['refunded', 100, [refundedOf(100, 100)]],
    ['refunded', 100, [refundedOf(60, 60), payment(40)]],
    // Reported before its capture.
    ['unpaid', 100, [payment(100, fact('refund', 'succeeded', 30))]],
    ['paid', 100, [taken(100), payment(100, fact('refund', 'succeeded', 30))]]
  ])(
    'by its payments, the payment status of an order is %s when its amount due is %d',
    (status, due, payments) => {
      expect(deriveOrderPaymentAccountState(due, payments).status).toBe(status)
    }
  )

  test('an order is overpaid while more is captured than due', () => {
    expect(deriveOrderPaymentAccountState(100, [taken(100), taken(100)]).isOverpaid).toBe(true)
    expect(deriveOrderPaymentAccountState(100, [taken(100), refundedOf(100, 100)]).isOverpaid).toBe(false)
  })

  test('an order counts the amount of open payments and the captured amount of closed ones as committed', () => {
    const canceled = payment(100, fact('intent', 'canceled'))
    const partly = payment(50, fact('authorization', 'released', 50), fact('capture', 'succeeded', 30))
    const held = payment(70, fact('authorization', 'held', 70), fact('capture', 'succeeded', 10))
    expect(deriveOrderPaymentAccountState(100, [canceled]).committed).toBe(0)
    expect(deriveOrderPaymentAccountState(100, [payment(20), partly, held]).committed).toBe(20 + 30 + 70)
  })
})
