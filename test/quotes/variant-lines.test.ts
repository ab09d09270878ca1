import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { QuoteInput } from '../../src/modules/pricing/quote/input.ts'
import { computeQuote, type Quote } from '../../src/modules/pricing/quote/quote.ts'
import { quoteInput, taxed } from '../support/quotes.ts'
import { anyBasket } from './baskets.ts'

const BASKETS = Number(process.env.BASKETS ?? 500)
const HOURS = { timeout: 3 * 3_600_000 }

/** Splits quantities of lines, in any order of keys. Each number decides whether a unit begins another line. */
function splitLines({ lines, ...others }: QuoteInput, numbers: readonly number[]): QuoteInput {
  let at = 0
  const next = () => numbers[at++ % numbers.length] ?? 0
  const parts = lines.flatMap(line => {
    const quantities = [1]
    for (let unit = 1; unit < line.quantity; unit += 1)
      if (next() % 3 === 0) quantities.push(1)
      else quantities[quantities.length - 1] = (quantities.at(-1) ?? 0) + 1
    const keyOf = (index: number) => `${next()} ${line.key} ${index}`
    return quantities.map((quantity, index) => ({ ...line, key: keyOf(index), quantity }))
  })
  return { ...others, lines: parts.sort((a, b) => (a.key < b.key ? -1 : 1)) }
}

/** Amounts of a quote that do not depend on how quantities are split into lines. */
const sumsOf = ({ totals, groups, taxSummary, findings, redemptions, hash }: Quote) => ({
  totals,
  groups,
  taxSummary,
  findings,
  redemptions,
  hash
})

const sumOf = <T>(list: readonly T[], of: (each: T) => number) =>
  list.reduce((sum, each) => sum + of(each), 0)

/** Amounts and tax bases of a variant by kind, promotion, rate and exemption. */
function amountsOfVariants({ lines, components }: Quote): Record<string, number> {
  const variantOf = new Map(lines.map(({ key, variantId }) => [key, variantId]))
  const sums: Record<string, number> = {}
  const add = (key: unknown, amountMinor: number) => {
    const name = JSON.stringify(key)
    sums[name] = (sums[name] ?? 0) + amountMinor
  }
  for (const { line, amountMinor, baseMinor = 0, exempt, ...source } of components) {
    const about = { ...source, line: variantOf.get(line ?? '') ?? null, exempt: exempt?.id }
    add({ ...about, is: 'amount' }, amountMinor)
    add({ ...about, is: 'base' }, baseMinor)
  }
  return sums
}

test(`each of ${BASKETS} random baskets costs the same when quantities are split into lines`, HOURS, () => {
  const someNumbers = fc.array(fc.nat({ max: 100 }), { minLength: 13, maxLength: 13 })
  let splits = 0
  fc.assert(
    fc.property(anyBasket, someNumbers, (basket, numbers) => {
      const split = splitLines(basket, numbers)
      const [whole, quoted] = [computeQuote(basket), computeQuote(split)]
      expect(sumsOf(quoted)).toEqual(sumsOf(whole))
      expect(amountsOfVariants(quoted)).toEqual(amountsOfVariants(whole))
      expect(quoted.lines.map(({ key, quantity }) => [key, quantity])).toEqual(
        split.lines.map(({ key, quantity }) => [key, quantity])
      )
      if (split.lines.length > basket.lines.length) splits += 1
    }),
    { numRuns: BASKETS }
  )
  expect(splits).toBeGreaterThan(BASKETS / 2)
})

test(
  `each line of ${BASKETS} random baskets with split quantities adds up and is never negative`,
  HOURS,
  () => {
    const someNumbers = fc.array(fc.nat({ max: 100 }), { minLength: 13, maxLength: 13 })
    fc.assert(
      fc.property(anyBasket, someNumbers, (basket, numbers) => {
        const split = splitLines(basket, numbers)
        const { lines, components } = computeQuote(split)
        const priceOf = new Map(split.lines.map(line => [line.key, line.priceMinor * line.quantity]))
        for (const { key, subtotalMinor, discountMinor, totalMinor } of lines) {
          const own = components.filter(({ line }) => line === key)
          expect(subtotalMinor).toBe(priceOf.get(key))
          expect(discountMinor).toBeGreaterThanOrEqual(0)
          expect(discountMinor).toBeLessThanOrEqual(subtotalMinor)
          expect(totalMinor).toBe(subtotalMinor - discountMinor)
          for (const { amountMinor } of own.filter(({ kind }) => kind === 'discount'))
            expect(amountMinor).toBeLessThan(0)
          const taxes = own.filter(({ kind, baseMinor }) => kind === 'tax' && baseMinor !== undefined)
          expect(taxes.length).toBeLessThanOrEqual(1)
          for (const { amountMinor, baseMinor = 0, included } of taxes) {
            expect(amountMinor).toBeGreaterThanOrEqual(0)
            expect(baseMinor).toBeGreaterThanOrEqual(0)
            expect(baseMinor + (included ? amountMinor : 0)).toBe(totalMinor)
          }
        }
        expect(sumOf(lines, each => each.quantity)).toBe(sumOf(basket.lines, each => each.quantity))
      }),
      { numRuns: BASKETS }
    )
  }
)

test('an amount that does not divide evenly is split by quantity, and the line with the smallest key gets the rest', () => {
  const [variantId, productId] = ['mug', 'mugs']
  const { lines } = computeQuote(
    quoteInput({
      lines: [
        { key: 'b', variantId, productId, priceMinor: 101, quantity: 1 },
        { key: 'a', variantId, productId, priceMinor: 101, quantity: 1 },
        { key: 'c', variantId, productId, priceMinor: 101, quantity: 2 }
      ],
      promotions: [{ class: 'order', effect: { type: 'amount', minor: { EUR: 10 } } }],
      taxes: [taxed('DE', { standard: 190_000 })]
    })
  )
  expect(lines.map(({ key, discountMinor, taxMinor }) => [key, discountMinor, taxMinor])).toEqual([
    ['a', 3, 16],
    ['b', 2, 16],
    ['c', 5, 31]
  ])
})

test('lines of one variant with different prices are priced separately', () => {
  const line = { variantId: 'mug', productId: 'mugs', quantity: 1 }
  const { lines, totals } = computeQuote(
    quoteInput({
      market: { taxRounding: 'line', pricesIncludeTax: false },
      lines: [
        { ...line, key: 'a', priceMinor: 2 },
        { ...line, key: 'b', priceMinor: 3 }
      ],
      taxes: [taxed('DE', { standard: 250_000 })]
    })
  )
  expect(lines.map(({ taxMinor }) => taxMinor)).toEqual([1, 1])
  expect(totals.taxMinor).toBe(2)
})
