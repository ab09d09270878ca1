import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amountBeforeRatePpm, multiplyByRatePpm } from '../../src/kernel/money.ts'
import type { ComponentTax, QuoteInput } from '../../src/modules/pricing/quote/input.ts'
import { computeQuote, listTaxableComponents } from '../../src/modules/pricing/quote/quote.ts'
import type { TaxableComponent } from '../../src/modules/pricing/quote/taxable-components.ts'
import { findTaxAnswerFault } from '../../src/modules/pricing/tax-engine/answers.ts'
import { quoteInput } from '../support/quotes.ts'
import { anyBasket, shuffled } from './baskets.ts'

const BASKETS = Number(process.env.BASKETS ?? 500)
const HOURS = { timeout: 3 * 3_600_000 }
const RATES = [0, 60_000, 88_750, 190_000, 250_000, 1_000_000]

const sumOf = <T>(list: readonly T[], of: (each: T) => number) =>
  list.reduce((sum, each) => sum + of(each), 0)

/** A valid answer of an engine that rounds in its own way. */
function answerOf(
  components: readonly TaxableComponent[],
  { market: { pricesIncludeTax } }: QuoteInput,
  numbers: readonly number[]
): ComponentTax[] {
  const answer = components.map(({ amountMinor, quantity }, index): ComponentTax => {
    const number = numbers[index % numbers.length] ?? 0
    const ratePpm = RATES[number % RATES.length] ?? 0
    const exact = pricesIncludeTax
      ? amountMinor - amountBeforeRatePpm(amountMinor, ratePpm)
      : multiplyByRatePpm(amountMinor, ratePpm)
    const rounding = (number % (2 * quantity + 3)) - quantity - 1
    return { ratePpm, taxMinor: Math.min(amountMinor, Math.max(0, exact + rounding)) }
  })
  expect(findTaxAnswerFault(answer, { components, pricesIncludeTax })).toBeUndefined()
  return answer
}

const someNumbers = fc.array(fc.nat({ max: 1_000 }), { minLength: 7, maxLength: 7 })
/** Checks a promise for random baskets with random taxes of an engine. */
const holds = (promise: (basket: QuoteInput, taxes: readonly ComponentTax[], numbers: number[]) => void) =>
  fc.assert(
    fc.property(anyBasket, someNumbers, (basket, numbers) => {
      promise(basket, answerOf(listTaxableComponents(basket), basket, numbers), numbers)
    }),
    { numRuns: BASKETS }
  )

test('with taxes of an engine, totals, lines, groups, components and tax summary add up', HOURS, () => {
  holds((basket, taxes) => {
    const { totals, lines, groups, components, taxSummary } = computeQuote({ ...basket, taxes })
    const { subtotalMinor, discountMinor, shippingMinor, taxMinor, taxAddedMinor, cashRoundingMinor } = totals
    expect(subtotalMinor - discountMinor + shippingMinor + taxAddedMinor + cashRoundingMinor).toBe(
      totals.totalMinor
    )
    const payable = components.filter(({ included }) => !included)
    expect(sumOf(payable, each => each.amountMinor)).toBe(totals.totalMinor)
    expect(sumOf([...lines, ...groups], each => each.taxMinor)).toBe(taxMinor)
    expect(sumOf([...lines, ...groups], each => each.taxAddedMinor)).toBe(taxAddedMinor)
    expect(sumOf(taxSummary, each => each.taxMinor)).toBe(taxMinor)
    for (const { netMinor, taxMinor: tax, grossMinor } of taxSummary) expect(netMinor + tax).toBe(grossMinor)
  })
})

test(
  'with taxes of an engine, each line has its tax, its net and tax are its gross, and no total is negative',
  HOURS,
  () => {
    holds((basket, taxes) => {
      const { totals, lines, components } = computeQuote({ ...basket, taxes })
      for (const { key, totalMinor } of lines) {
        const [tax] = components.filter(({ kind, line }) => kind === 'tax' && line === key)
        if (tax === undefined) continue
        expect(tax.baseMinor).toBeGreaterThanOrEqual(0)
        expect((tax.baseMinor ?? 0) + (basket.market.pricesIncludeTax ? tax.amountMinor : 0)).toBe(totalMinor)
      }
      expect(totals.totalMinor).toBeGreaterThanOrEqual(0)
      if (basket.buyer.exemptions.length === 0)
        expect(totals.taxMinor).toBe(sumOf(taxes, ({ taxMinor }) => taxMinor))
    })
  }
)

test(
  'the order of lines, codes and promotions changes neither the request to an engine nor the quote',
  HOURS,
  () => {
    holds((basket, taxes, numbers) => {
      const other = shuffled(basket, numbers)
      expect(listTaxableComponents(other)).toEqual(listTaxableComponents(basket))
      expect(computeQuote({ ...other, taxes })).toEqual(computeQuote({ ...basket, taxes }))
    })
  }
)

test('splitting a quantity into lines changes neither the request to an engine nor a total', HOURS, () => {
  holds((basket, taxes) => {
    const lines = basket.lines.flatMap(line =>
      line.quantity === 1
        ? [line]
        : [
            { ...line, quantity: line.quantity - 1 },
            { ...line, key: `${line.key} split`, quantity: 1 }
          ]
    )
    const split = { ...basket, lines }
    expect(listTaxableComponents(split)).toEqual(listTaxableComponents(basket))
    const { totals, taxSummary, hash } = computeQuote({ ...split, taxes })
    const whole = computeQuote({ ...basket, taxes })
    expect([totals, taxSummary, hash]).toEqual([whole.totals, whole.taxSummary, whole.hash])
  })
})

test('the hash of a quote changes with each tax of an engine', () => {
  const input = quoteInput({ lines: [{ priceMinor: 1_000 }, { priceMinor: 2_000 }] })
  const hashOf = (...taxes: number[]) =>
    computeQuote({ ...input, taxes: taxes.map(taxMinor => ({ ratePpm: 190_000, taxMinor })) }).hash
  // The total stays, because prices include the tax.
  const hashes = [hashOf(160, 319), hashOf(161, 319), hashOf(160, 318), hashOf(161, 318)]
  expect(new Set(hashes).size).toBe(4)
})

test('a category that is never taxed is not sent to an engine, and another number of taxes is an error', () => {
  const input = quoteInput({ lines: [{ taxCategory: 'untaxed' }, { quantity: 2 }] })
  expect(listTaxableComponents(input)).toEqual([
    {
      variantId: 'variant of line 001',
      productId: 'product of line 001',
      taxCategory: 'standard',
      quantity: 2,
      amountMinor: 2_000,
      destination: { country: 'DE', region: null, postalCode: null }
    }
  ])
  expect(() => computeQuote({ ...input, taxes: [] })).toThrow('The quote has 0 taxes for 1 components')
})
