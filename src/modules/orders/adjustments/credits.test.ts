import { describe, expect, test } from 'vitest'
import {
  calculateCreditForAmount,
  calculateCreditForUnits,
  type OrderCredit,
  type OrderPriceWithCredits,
  refundablePartOfCredit,
  totalCreditedMinor
} from './credits.ts'
import { type OrderPricePart, orderPriceShareKeyOf, splitOrderPrice } from './shares.ts'

const part = (fields: Partial<OrderPricePart>): OrderPricePart => ({
  kind: 'item',
  amountMinor: 0,
  ratePpm: null,
  taxCategory: null,
  included: false,
  ...fields
})
const taxed = { kind: 'tax', ratePpm: 250_000, taxCategory: 'standard', included: true } as const

/** Three mugs for 10.00 together, a book for 5.00, delivery for 2.00. A fifth of each is tax. */
const PARTS = [
  part({ line: 0, amountMinor: 1_200 }),
  part({ line: 0, kind: 'discount', amountMinor: -200 }),
  part({ line: 0, ...taxed, amountMinor: 200 }),
  part({ line: 1, amountMinor: 500 }),
  part({ line: 1, ...taxed, amountMinor: 100 }),
  part({ group: 'goods', kind: 'shipping', amountMinor: 200 }),
  part({ group: 'goods', ...taxed, amountMinor: 40 })
]
const LINES = [
  { line: 0, group: 'goods', quantity: 3, creditedUnits: 0 },
  { line: 1, group: 'goods', quantity: 1, creditedUnits: 0 }
]
const open = (parts = PARTS, totalMinor = 1_700): OrderPriceWithCredits => ({
  totalMinor,
  shares: splitOrderPrice(parts, LINES, [])
})
const units = (...given: [number, number][]) => new Map(given)

/** The balance after the credit. */
const after = (
  { totalMinor, shares }: OrderPriceWithCredits,
  { parts }: OrderCredit
): OrderPriceWithCredits => ({
  totalMinor,
  shares: shares.map(share => {
    const own = parts.find(
      each => JSON.stringify(orderPriceShareKeyOf(each)) === JSON.stringify(orderPriceShareKeyOf(share))
    )
    return {
      ...share,
      creditedMinor: share.creditedMinor + (own?.amountMinor ?? 0),
      creditedUnits: share.creditedUnits + (own?.units ?? 0)
    }
  })
})
/** Amount and tax of each of these credits, one after the other. */
function amountsOf(
  balance: OrderPriceWithCredits,
  credits: readonly ((balance: OrderPriceWithCredits) => OrderCredit)[]
) {
  let now = balance
  const amounts = credits.map(make => {
    const made = make(now)
    now = after(now, made)
    return [made.amountMinor, made.parts.reduce((all, { taxMinor }) => all + taxMinor, 0)]
  })
  return { amounts, left: now.totalMinor - totalCreditedMinor(now) }
}
const ofUnits =
  (...given: [number, number][]) =>
  (balance: OrderPriceWithCredits) =>
    calculateCreditForUnits(balance, units(...given))
const ofAmount = (amountMinor: number) => (balance: OrderPriceWithCredits) =>
  calculateCreditForAmount(balance, amountMinor)

describe('credits of an order', () => {
  test('credits for single units add up to the line, and the last unit also credits the delivery', () => {
    const one = ofUnits([0, 1])
    expect(amountsOf(open(), [one, one, one, ofUnits([1, 1])])).toEqual({
      amounts: [
        [333, 67],
        [334, 66],
        [333, 67],
        [700, 140]
      ],
      left: 0
    })
  })

  test('a credit of all units is the whole order with its tax', () => {
    const { amounts, left } = amountsOf(open(), [ofUnits([0, 3], [1, 1])])
    expect([amounts, left]).toEqual([[[1_700, 340]], 0])
  })

  test('a credit by amount is split in proportion to the lines, and nothing is credited twice', () => {
    const { amounts, left } = amountsOf(open(), [ofAmount(170), ofUnits([1, 1]), ofUnits([0, 3])])
    // A tenth of everything, then the book minus its tenth, then the rest.
    expect(amounts).toEqual([
      [170, 34],
      [450, 90],
      [1_080, 216]
    ])
    expect(left).toBe(0)
  })

  test('a credit by amount can be as large as the whole order', () => {
    expect(amountsOf(open(), [ofAmount(1_700)]).amounts).toEqual([[1_700, 340]])
  })

  test.each([
    ['up', 5, [1_700, 5]],
    ['down', -5, [1_700, -5]]
  ])(
    'the credits of all units of an order whose total was rounded %s add up to that total',
    (_, rounding) => {
      const parts = [...PARTS, part({ kind: 'cash_rounding', amountMinor: rounding })]
      const balance = open(parts, 1_700 + rounding)
      for (const ways of [
        [ofUnits([0, 3]), ofUnits([1, 1])],
        [ofUnits([1, 1]), ofUnits([0, 2]), ofUnits([0, 1])],
        [ofAmount(1), ofUnits([1, 1]), ofAmount(3), ofUnits([0, 3])]
      ]) {
        const { amounts, left } = amountsOf(balance, ways)
        expect(amounts.reduce((all, [amount = 0]) => all + amount, 0)).toBe(1_700 + rounding)
        expect(left).toBe(0)
      }
    }
  )

  test('the credit of a free order is zero', () => {
    const free = [part({ line: 0, amountMinor: 900 }), part({ line: 0, kind: 'discount', amountMinor: -900 })]
    const balance = { totalMinor: 0, shares: splitOrderPrice(free, LINES.slice(0, 1), []) }
    expect(calculateCreditForUnits(balance, units([0, 2]))).toMatchObject({
      amountMinor: 0,
      parts: [{ line: 0, units: 2 }]
    })
  })
})

test.each([
  ['all that is credited, of what is paid', 400, 600, 1_000, 400],
  ['nothing, as long as nothing is paid', 400, 600, 0, 0],
  ['what is too much, of what is paid in part', 400, 600, 700, 100],
  ['no more than is credited, of what was paid twice', 400, 600, 2_000, 400]
])('the refund of a credit is %s', (_, amountMinor, owedMinor, heldMinor, back) => {
  expect(refundablePartOfCredit({ amountMinor }, { owedMinor, heldMinor })).toBe(back)
})
