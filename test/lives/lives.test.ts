import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  calculateCreditForAmount,
  calculateCreditForUnits,
  type OrderCredit,
  type OrderCreditPart,
  refundablePartOfCredit,
  totalCreditedMinor
} from '../../src/modules/orders/adjustments/credits.ts'
import {
  type OrderPricePart,
  orderPriceShareKeyOf,
  splitOrderPrice
} from '../../src/modules/orders/adjustments/shares.ts'
import {
  findShipmentVoidRefusalReason,
  reduceShippedUnitsOfLines
} from '../../src/modules/orders/fulfilment/voiding.ts'
import {
  findOrderActionRefusalReason,
  type OrderActionName,
  type OrderLifecycleFacts,
  orderStateAfter
} from '../../src/modules/orders/lifecycle/actions.ts'
import {
  addToOrderLineCounters,
  type OrderLineCounters,
  type OrderLineQuantity,
  remainingOrderLineUnitsByAction
} from '../../src/modules/orders/lifecycle/counters.ts'
import { computeQuote, type Quote } from '../../src/modules/pricing/quote/quote.ts'
import { anyBasket } from '../quotes/baskets.ts'
import { type Deed, naiveOrder, type Thing } from './model.ts'

const LIVES = Number(process.env.LIVES ?? 1_000)
const HOURS = { timeout: 3 * 3_600_000 }
/**
 * Each case must occur at least once in this many lives. It occurs ten times as often, so that no seed misses
 * one.
 */
const MET_IN = 1_000

const ACTION_OF = {
  place: 'place',
  ask: 'cancel',
  agree: 'confirm_cancel',
  deny: 'refuse_cancel',
  cancel: 'cancel_lines',
  ship: 'fulfil',
  return: 'return',
  refund: 'refund',
  amount: 'refund',
  hold: 'hold',
  release: 'release',
  void: 'void_shipment',
  complete: 'complete',
  reopen: 'reopen'
} as const satisfies Record<Exclude<Deed['do'], 'take'>, OrderActionName>
const COUNTED = { cancel: 'cancel', ship: 'fulfil', return: 'return', refund: 'refund' } as const

const sum = <T>(list: readonly T[], of: (each: T) => number) => list.reduce((all, each) => all + of(each), 0)

/** What an order stores of a quote. */
function orderOf({ components, lines, totals }: Quote) {
  const numberOf = new Map(lines.map(({ key }, index) => [key, index]))
  const parts = components.map(
    ({ kind, line, group, amountMinor, ratePpm = null, taxCategory = null, included }): OrderPricePart => ({
      kind,
      amountMinor,
      ratePpm,
      taxCategory,
      included,
      ...(line === undefined ? group !== undefined && { group } : { line: numberOf.get(line) ?? -1 })
    })
  )
  const counters = lines.map(
    ({ quantity }, line): OrderLineCounters => ({
      line,
      ordered: quantity,
      canceled: 0,
      fulfilled: 0,
      returned: 0,
      refunded: 0,
      requiresShipping: true
    })
  )
  return { totalMinor: totals.totalMinor, parts, counters, groupOf: lines.map(({ group }) => group) }
}
type Order = ReturnType<typeof orderOf>

/** The same for the model, read from the components one by one. */
function thingsOf({ components, lines, groups }: Quote): Thing[] {
  const thing = (
    name: string,
    group: string | null,
    many: number,
    isOwn: (of: Quote['components'][number]) => boolean
  ) => {
    const own = components.filter(isOwn)
    const price = sum(
      own.filter(({ included }) => !included),
      each => each.amountMinor
    )
    const tax = sum(
      own.filter(({ kind }) => kind === 'tax'),
      each => each.amountMinor
    )
    return { name, group, count: many, price: BigInt(price), tax: BigInt(tax) }
  }
  return [
    ...lines.map(({ key, group, quantity }) =>
      thing(`line ${key}`, group, quantity, ({ line }) => line === key)
    ),
    ...groups.map(({ key }) =>
      thing(`delivery ${key}`, key, 0, ({ group, line }) => group === key && line === undefined)
    ),
    thing('rounding', null, 0, ({ line, group }) => line === undefined && group === undefined)
  ].filter(each => each.count > 0 || each.price > 0n)
}

/** An order that follows the code of the program. */
function liveOrder({ totalMinor, parts, counters, groupOf }: Order) {
  let lines: readonly OrderLineCounters[] = counters
  let lifecycle: Omit<OrderLifecycleFacts, 'lines'> = {
    state: 'pending',
    paymentStatus: 'unpaid',
    isCancelRequested: false,
    isHeld: false,
    isErased: false
  }
  const parcels: (readonly OrderLineQuantity[])[] = []
  const voided = new Set<number>()
  const earlier: OrderCreditPart[] = []
  let [taken, back] = [0, 0]

  const ledger = () => ({
    totalMinor,
    shares: splitOrderPrice(
      parts,
      lines.map(({ line, ordered, canceled, refunded }) => ({
        line,
        group: groupOf[line] ?? '',
        quantity: ordered,
        creditedUnits: canceled + refunded
      })),
      earlier
    )
  })
  function settle(credit: OrderCredit) {
    earlier.push(...credit.parts)
    const owedMinor = totalMinor - totalCreditedMinor(ledger())
    back += refundablePartOfCredit(credit, { owedMinor, heldMinor: taken - back })
  }
  const isUnsent = (deed: Deed) => {
    if (deed.do !== 'void') return true
    const parcel = parcels[deed.parcel]
    return (
      parcel !== undefined &&
      !voided.has(deed.parcel) &&
      findShipmentVoidRefusalReason(lines, parcel) === undefined
    )
  }
  const may = (deed: Deed) =>
    deed.do === 'take'
      ? lifecycle.state !== 'canceled'
      : isUnsent(deed) &&
        ['admin', 'system'].some(
          role =>
            findOrderActionRefusalReason(
              ACTION_OF[deed.do],
              { ...lifecycle, lines },
              role as 'admin',
              'never'
            ) === undefined
        )

  function act(deed: Deed): void {
    if (deed.do === 'take') taken += deed.minor
    if (deed.do === 'amount') settle(calculateCreditForAmount(ledger(), deed.minor))
    if ('units' in deed) {
      const units = [...deed.units].map(([name, quantity]) => ({ line: Number(name), quantity }))
      const next = addToOrderLineCounters(lines, COUNTED[deed.do], units)
      const isCredit = deed.do === 'cancel' || deed.do === 'refund'
      const credit = calculateCreditForUnits(
        ledger(),
        new Map(units.map(({ line, quantity }) => [line, quantity]))
      )
      lines = next
      if (deed.do === 'ship') parcels.push(units)
      if (isCredit) settle(credit)
    }
    if (deed.do === 'void') {
      lines = reduceShippedUnitsOfLines(lines, parcels[deed.parcel] ?? [])
      voided.add(deed.parcel)
    }
    if (deed.do === 'take') return
    lifecycle = {
      ...lifecycle,
      state: orderStateAfter(ACTION_OF[deed.do], lifecycle.state),
      isHeld: deed.do === 'hold' || (deed.do !== 'release' && lifecycle.isHeld),
      isCancelRequested:
        deed.do === 'ask' || (lifecycle.isCancelRequested && deed.do !== 'deny' && deed.do !== 'agree')
    }
  }

  const counter = (name: 'canceled' | 'fulfilled' | 'returned' | 'refunded') => lines.map(line => line[name])
  return {
    may,
    act,
    parcels: () => parcels.length,
    leftOf: (kind: keyof typeof remainingOrderLineUnitsByAction) =>
      lines.map(line => remainingOrderLineUnitsByAction[kind](line)),
    /** What can still be credited of the price, and refunded of the captured amount. */
    rest: () => totalMinor - totalCreditedMinor(ledger()),
    now: () => {
      const { shares } = ledger()
      const taxOf = (share: (typeof shares)[number]) =>
        sum(
          earlier.filter(
            part => JSON.stringify(orderPriceShareKeyOf(part)) === JSON.stringify(orderPriceShareKeyOf(share))
          ),
          each => each.taxMinor
        )
      return {
        state: lifecycle.state,
        counters: [counter('canceled'), counter('fulfilled'), counter('returned'), counter('refunded')],
        credited: totalCreditedMinor({ totalMinor, shares }),
        given: shares.map(share => share.creditedMinor),
        tax: shares.map(taxOf),
        taken,
        back
      }
    }
  }
}

const anyStep = fc.record({
  kind: fc.constantFrom<Deed['do']>(
    ...(['take', 'take', 'place', 'place', 'place', 'cancel', 'ship', 'ship', 'ship', 'ship'] as const),
    ...([
      'return',
      'refund',
      'refund',
      'refund',
      'amount',
      'ask',
      'agree',
      'deny',
      'deny',
      'void',
      'void'
    ] as const),
    ...(['hold', 'release', 'release', 'complete', 'complete', 'complete', 'reopen', 'reopen'] as const)
  ),
  /** A quantity: a part, all, or one too many. */
  numbers: fc.array(fc.nat({ max: 1_000_000 }), { minLength: 4, maxLength: 4 }),
  isAll: fc.boolean()
})
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

function deedOf({ kind, numbers, isAll }: Step, order: ReturnType<typeof liveOrder>): Deed {
  const [first = 0] = numbers
  if (kind === 'take' || kind === 'amount') {
    const { taken } = order.now()
    const most = kind === 'take' ? Math.max(0, order.rest() - taken) : order.rest()
    return { do: kind, minor: isAll ? most : first % (most + 1) }
  }
  if (kind === 'void') return { do: kind, parcel: first % (order.parcels() + 1) }
  if (!(kind in COUNTED)) return { do: kind } as Deed
  const rests = order.leftOf(COUNTED[kind as 'ship'])
  const units = rests.map((rest, line): [string, number] => [
    String(line),
    isAll ? rest : (numbers[line % numbers.length] ?? 0) % (rest + 1)
  ])
  return { do: kind as 'ship', units: new Map(units.filter(([, many]) => many > 0)) }
}

const CASES = [
  ...Object.keys(ACTION_OF),
  ...['take', 'all is credited', 'paid in part', 'given back in part', 'given back all'],
  ...[
    'rounded up',
    'rounded down',
    'JPY',
    'EUR',
    'KWD',
    'tax included',
    'tax added',
    'amount and units',
    'refused'
  ]
]

test(`${LIVES} order lifecycles agree with the naive model`, HOURS, () => {
  const met = new Map(CASES.map(each => [each, 0]))
  const meet = (name: string, is = true) => is && met.set(name, (met.get(name) ?? 0) + 1)
  fc.assert(
    fc.property(anyBasket, fc.array(anyStep, { minLength: 4, maxLength: 30 }), (basket, steps) => {
      const quoted = computeQuote(basket)
      const order = liveOrder(orderOf(quoted))
      const model = naiveOrder(BigInt(quoted.totals.totalMinor), thingsOf(quoted))
      const done = new Set<string>()
      for (const step of steps) {
        const deed = deedOf(step, order)
        if ('units' in deed && deed.units.size === 0) continue
        const may = model.may(deed)
        expect(order.may(deed), deed.do).toBe(may)
        done.add(may ? deed.do : 'refused')
        if (!may) continue
        order.act(deed)
        model.act(named(deed, quoted))
        expect(order.now()).toEqual(model.now())
      }
      const { back, taken, credited, tax, given } = order.now()
      expect(back).toBeLessThanOrEqual(taken)
      expect(credited).toBeLessThanOrEqual(quoted.totals.totalMinor)
      const isAll = credited === quoted.totals.totalMinor && credited > 0
      if (isAll && given.length > 0 && sum(order.leftOf('cancel'), each => each) === 0) {
        expect(back).toBe(taken)
        // If the total was rounded down, everything is credited although shares have a rest.
        const isWhole = sum(given, each => each) === sum(thingsOf(quoted), ({ price }) => Number(price))
        if (isWhole) expect(sum(tax, each => each)).toBe(quoted.totals.taxMinor)
      }
      for (const each of done) meet(each)
      meet('all is credited', isAll)
      meet('paid in part', taken > 0 && taken < quoted.totals.totalMinor)
      meet('given back in part', back > 0 && back < taken)
      meet('given back all', back > 0 && back === taken)
      meet('rounded up', quoted.totals.cashRoundingMinor > 0)
      meet('rounded down', quoted.totals.cashRoundingMinor < 0)
      meet(quoted.currency)
      meet(basket.market.pricesIncludeTax ? 'tax included' : 'tax added', quoted.totals.taxMinor > 0)
      meet('amount and units', done.has('amount') && done.has('refund'))
    }),
    { numRuns: LIVES }
  )
  if (process.env.LIVES !== undefined) console.table(Object.fromEntries(met))
  expect([...met].filter(([, times]) => times * MET_IN < LIVES)).toEqual([])
})

/** The same action, with the model's names of lines. */
const named = (deed: Deed, { lines }: Quote): Deed =>
  'units' in deed
    ? {
        ...deed,
        units: new Map([...deed.units].map(([line, many]) => [`line ${lines[Number(line)]?.key}`, many]))
      }
    : deed
