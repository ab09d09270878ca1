import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Fact, type FactKind, RANKS, ranked } from './fact.ts'
import { type PaymentState, reduceAccount, reducePayment } from './reducer.ts'

const fact = (kind: FactKind, status: string, amount = 100, objectId = `${kind}_1`): Fact =>
  ({ kind, status, amount, objectId, currency: 'EUR' }) as Fact
const reduce = (facts: readonly Fact[], refunds: Parameters<typeof reducePayment>[1] = []) =>
  reducePayment(facts.map(ranked), refunds)

const someFact = fc.constantFrom(...(Object.keys(RANKS) as FactKind[])).chain(kind =>
  fc.record({
    kind: fc.constant(kind),
    status: fc.constantFrom(...Object.keys(RANKS[kind])),
    objectId: fc.constantFrom('a', 'b', 'c'),
    amount: fc.integer({ min: 1, max: 4 }).map(n => n * 25),
    currency: fc.constant('EUR')
  })
) as fc.Arbitrary<Fact>
const someFacts = fc.array(someFact, { maxLength: 12 })
/** The same facts in another order, some of them several times. */
const twoTellings = someFacts.chain(facts =>
  fc.tuple(
    fc.constant(facts),
    fc.shuffledSubarray([...facts, ...facts, ...facts], { minLength: facts.length * 3 })
  )
)

describe('the end is the same', () => {
  test('in whatever order facts come, and however often', () => {
    const met = new Map<string, number>()
    fc.assert(
      fc.property(twoTellings, ([told, shuffled]) => {
        const state = reduce(told)
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

  test('whatever was known before, once all is known', () => {
    fc.assert(
      fc.property(someFacts, someFacts, (early, late) => {
        expect(reduce([...early, ...late])).toEqual(reduce([...late, ...early, ...late]))
      }),
      { numRuns: 2_000 }
    )
  })

  test('as that of a plain count of the latest word on each object', () => {
    fc.assert(
      fc.property(someFacts, facts => {
        // Said anew, without anything of the reducer's: sort, and let the last one of each object stay.
        const last: Record<string, Fact> = {}
        const order = (one: Fact) =>
          Object.values(RANKS[one.kind]).indexOf(
            (RANKS[one.kind] as Record<string, number>)[one.status] as never
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
  test.each<[string, Fact[], Partial<PaymentState>]>([
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
      'is let go of',
      [fact('intent', 'canceled'), fact('authorization', 'held')],
      { status: 'canceled', authorized: 0 }
    ],
    ['ran out', [fact('authorization', 'expired'), fact('authorization', 'held')], { status: 'canceled' }],
    [
      'was taken although it had been let go of',
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
  ])('%s', (_, facts, state) => {
    expect(reduce(facts)).toMatchObject(state)
    expect(reduce(facts.toReversed())).toMatchObject(state)
  })

  test('counts a refund that is asked for until something is known of it, once', () => {
    const asked = [{ id: 'ours', amount: 30 }]
    const paid = fact('capture', 'succeeded')
    const told = (status: string) => ({ ...fact('refund', status, 30, 're_1'), operationId: 'ours' })
    expect(reduce([paid], asked).refunding).toBe(30)
    expect(reduce([paid, told('pending')], asked).refunding).toBe(30)
    expect(reduce([paid, told('succeeded')], asked)).toMatchObject({
      refunding: 0,
      refunded: 30,
      status: 'partially_refunded'
    })
    // By hand, at the provider: that is another one.
    expect(reduce([paid, fact('refund', 'succeeded', 30, 're_2')], asked)).toMatchObject({
      refunding: 30,
      refunded: 30
    })
  })

  test('is told of its refunds in any order, each thing up to three times, and counts each refund once all the while', () => {
    // Two that we ask for, of which one fails after all; one by hand; and a dispute of the rest.
    const of = (refund: string, amount: number, operationId: string | null, ...statuses: string[]) =>
      statuses.map(status => ({ ...fact('refund', status, amount, refund), operationId }))
    const facts: Fact[] = [
      ...[fact('intent', 'succeeded'), fact('capture', 'pending'), fact('capture', 'succeeded')],
      ...of('re_1', 30, 'one', 'pending', 'succeeded'),
      ...of('re_2', 20, 'other', 'pending', 'succeeded', 'failed'),
      ...of('re_3', 5, null, 'succeeded'),
      ...[fact('dispute', 'open', 65), fact('dispute', 'won', 65)]
    ]
    const asked = { one: 30, other: 20 }
    const steps = [...facts, 'one' as const, 'other' as const]
    const tellings = fc
      .array(fc.integer({ min: 1, max: 3 }), { minLength: steps.length, maxLength: steps.length })
      .map(times => steps.flatMap((step, nth) => Array.from({ length: times[nth] ?? 1 }, () => step)))
      .chain(told => fc.shuffledSubarray(told, { minLength: told.length }))
    fc.assert(
      fc.property(tellings, told => {
        const known: Fact[] = []
        const open = new Map(Object.entries(asked))
        for (const step of told) {
          if (typeof step !== 'string') known.push(step)
          // The answer tells of the refund, too.
          else if (open.delete(step))
            known.push(...of(step === 'one' ? 're_1' : 're_2', asked[step], step, 'pending'))
          const { refunded, refunding } = reduce(
            known,
            Array.from(open, ([id, amount]) => ({ id, amount }))
          )
          const hasFailed = known.some(({ kind, status }) => kind === 'refund' && status === 'failed')
          const byHand = known.some(({ objectId }) => objectId === 're_3')
          expect(refunded + refunding).toBe(30 + (hasFailed ? 0 : 20) + (byHand ? 5 : 0))
        }
        expect(reduce(known, [])).toMatchObject({
          ...{ status: 'partially_refunded', captured: 100, authorized: 0 },
          ...{ refunded: 35, refunding: 0, disputed: 0, isOpen: false }
        })
      }),
      { numRuns: 300 }
    )
  })
})

describe('an order', () => {
  const payment = (amount: number, ...facts: Fact[]) => ({ ...reduce(facts), amount })
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
    // A double payment that went back leaves the order paid, more than that does not.
    ['partially_refunded', 100, [refundedOf(100, 1), refundedOf(100, 100)]],
    ['partially_refunded', 100, [refundedOf(100, 1)]],
    ['refunded', 100, [refundedOf(100, 100)]],
    ['refunded', 100, [refundedOf(60, 60), payment(40)]],
    // Told of before what it is of.
    ['unpaid', 100, [payment(100, fact('refund', 'succeeded', 30))]],
    ['paid', 100, [taken(100), payment(100, fact('refund', 'succeeded', 30))]]
  ])('is %s of %d', (status, due, payments) => {
    expect(reduceAccount(due, payments).status).toBe(status)
  })

  test('is overpaid as long as more was taken than is due', () => {
    expect(reduceAccount(100, [taken(100), taken(100)]).isOverpaid).toBe(true)
    expect(reduceAccount(100, [taken(100), refundedOf(100, 100)]).isOverpaid).toBe(false)
  })

  test('has committed what open payments may take, and what closed ones took', () => {
    const canceled = payment(100, fact('intent', 'canceled'))
    const partly = payment(50, fact('authorization', 'released', 50), fact('capture', 'succeeded', 30))
    const held = payment(70, fact('authorization', 'held', 70), fact('capture', 'succeeded', 10))
    expect(reduceAccount(100, [canceled]).committed).toBe(0)
    expect(reduceAccount(100, [payment(20), partly, held]).committed).toBe(20 + 30 + 70)
  })
})
