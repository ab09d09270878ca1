import { describe, expect, test } from 'vitest'
import { exemption, quoteInput, taxed } from '../../../../test/support/quotes.ts'
import { computeQuote } from './quote.ts'
import { QUOTE_SIZE_LIMITS } from './size-limits.ts'

const GERMANY = [taxed('DE', { standard: 190_000, reduced: 70_000 })]

test('a quote shows the price, catalog discount and tax of each line', () => {
  const { lines, totals, components } = computeQuote(
    quoteInput({
      lines: [
        { key: 'shirt', priceMinor: 2_500, discountedPriceMinor: 2_000, quantity: 2 },
        { key: 'book', priceMinor: 1_070, taxCategory: 'reduced' }
      ],
      taxes: GERMANY
    })
  )
  expect(lines).toMatchObject([
    { key: 'book', subtotalMinor: 1_070, discountMinor: 0, taxMinor: 70, totalMinor: 1_070 },
    { key: 'shirt', subtotalMinor: 5_000, discountMinor: 1_000, taxMinor: 639, totalMinor: 4_000 }
  ])
  expect(totals).toEqual({
    subtotalMinor: 6_070,
    discountMinor: 1_000,
    shippingMinor: 0,
    taxMinor: 709,
    taxAddedMinor: 0,
    cashRoundingMinor: 0,
    totalMinor: 5_070
  })
  expect(components).toContainEqual({ kind: 'discount', line: 'shirt', amountMinor: -1_000, included: false })
})

test('a quote in a market without countries has no tax before the destination is known', () => {
  const line = { key: 'a', priceMinor: 1_190 }
  const inCountry = computeQuote(quoteInput({ lines: [line], taxes: GERMANY }))
  const nowhere = computeQuote(quoteInput({ lines: [line], taxes: GERMANY, market: { countries: [] } }))
  expect([inCountry.totals.taxMinor, nowhere.totals.taxMinor]).toEqual([190, 0])
})

test("a buyer is tax-exempt within the exemption's countries and period, and the summary separates both amounts", () => {
  const exempt = [
    exemption({ id: 'old', reason: 'old', endsAt: 1_000 }),
    exemption({ id: 'new', reason: 'new', startsAt: 1_000, countries: ['FR'] })
  ]
  const groups = ['DE', 'FR'].map(country => ({ key: country, destination: { country } }))
  const lines = groups.map(({ key }) => ({ key, group: key, priceMinor: 1_000 }))
  const taxes = ['DE', 'FR'].map(country => taxed(country, { standard: 200_000 }))
  const summaryAt = (now: number) =>
    computeQuote(
      quoteInput({
        lines,
        groups,
        taxes,
        now,
        market: { pricesIncludeTax: false },
        buyer: { exemptions: exempt }
      })
    ).taxSummary.map(({ netMinor, taxMinor, exempt }) => [netMinor, taxMinor, exempt?.reason])
  expect(summaryAt(999)).toEqual([[2_000, 0, 'old']])
  expect(summaryAt(1_000)).toEqual([
    [1_000, 200, undefined],
    [1_000, 0, 'new']
  ])
})

describe('the hash of a quote', () => {
  const line = { key: 'a', variantId: 'shirt', priceMinor: 1_000, quantity: 2 }
  const other = { key: 'b', variantId: 'book', priceMinor: 500 }
  const [sent, picked] = [{ method: 'shipping', destination: { country: 'DE' } }, { key: 'other' }] as const
  const ratesOf = () =>
    ['post', 'express'].map(id => ({
      id,
      methodId: id,
      amountMinor: 500,
      taxCategory: 'standard',
      name: 'Parcel'
    }))
  const given = { lines: [line, other], groups: [sent, picked], taxes: GERMANY, ratesOf }
  const hashOf = (changed: Partial<Parameters<typeof quoteInput>[0]>) =>
    computeQuote(quoteInput({ ...given, ...changed })).hash
  const same = hashOf({})

  test.each([
    ['lines come in another order', { lines: [other, line] }],
    ['the default option is chosen', { groups: [{ ...sent, choice: 'express' }, picked] }],
    ['a line weighs more', { lines: [{ ...line, weightGrams: 900 }, other] }]
  ])('the hash of a quote stays the same when %s', (_, changed) => {
    expect(hashOf(changed)).toBe(same)
  })

  test.each([
    ['a price', { lines: [{ ...line, priceMinor: 1_001 }, other] }],
    ['a discounted price', { lines: [{ ...line, discountedPriceMinor: 999 }, other] }],
    ['a quantity that costs the same', { lines: [{ ...line, priceMinor: 500, quantity: 4 }, other] }],
    ['a variant', { lines: [{ ...line, variantId: 'coat' }, other] }],
    ['the tax in it', { taxes: [taxed('DE', { standard: 200_000 })] }],
    ['whether tax is in it', { market: { pricesIncludeTax: false } }],
    ['the way it is sent', { groups: [{ ...sent, choice: 'post' }, picked] }],
    ['what is sent with what', { lines: [line, { ...other, group: 'other' }] }],
    ['the market', { market: { code: 'abroad' } }],
    ['the currency', { market: { currency: 'USD' } }]
  ])('the hash of a quote changes with %s', (_, changed) => {
    expect(hashOf(changed)).not.toBe(same)
  })
})

test.each([
  ['lines', { lines: Array.from({ length: QUOTE_SIZE_LIMITS.lines + 1 }, () => ({})) }],
  ['groups', { lines: [], groups: Array.from({ length: 51 }, (_, index) => ({ key: String(index) })) }],
  ['codes', { lines: [{}], codes: Array.from({ length: 11 }, (_, index) => String(index)) }],
  ['subtotal', { lines: [{ priceMinor: 100_000_000_000, quantity: 20_001 }] }]
] as const)('a quote with too many or too large %s is rejected', (what, given) => {
  expect(() => computeQuote(quoteInput(given))).toThrow(
    expect.objectContaining({
      kind: 'invalid',
      code: 'PRICING_QUOTE_TOO_LARGE',
      details: { what, limit: QUOTE_SIZE_LIMITS[what] }
    })
  )
})
