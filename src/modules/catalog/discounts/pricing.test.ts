import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { type CatalogVariantDiscount, calculateCurrentVariantPrice } from './pricing.ts'

const running = { starts_in: -60, ends_in: 60 }
const tenPercent: CatalogVariantDiscount = { percentage_ppm: 100_000, amount_minor: null, ...running }
const threeOff: CatalogVariantDiscount = { percentage_ppm: null, amount_minor: 300, ...running }

const amount = fc.integer({ min: 0, max: AMOUNT_MAX })
const seconds = fc.integer({ min: -100, max: 100 })
const discount: fc.Arbitrary<CatalogVariantDiscount> = fc
  .record({ isShare: fc.boolean(), ppm: fc.integer({ min: 1, max: 1_000_000 }), off: amount, from: seconds })
  .chain(({ isShare, ppm, off, from }) =>
    fc.option(fc.integer({ min: from + 1, max: from + 100 })).map(ends_in => ({
      percentage_ppm: isShare ? ppm : null,
      amount_minor: isShare ? null : off,
      starts_in: from,
      ends_in
    }))
  )
const cases = fc.record({ price: amount, salePrice: fc.option(amount), discounts: fc.array(discount) })

test('the selling price of a variant without discounts is its price', () => {
  expect(calculateCurrentVariantPrice(1_000, null, [])).toEqual({ discountedPrice: 1_000, changesIn: null })
})

test('only the best of several discounts applies, and discounts do not add up', () => {
  expect(calculateCurrentVariantPrice(1_000, null, [tenPercent, threeOff]).discountedPrice).toBe(700)
  expect(calculateCurrentVariantPrice(10_000, null, [tenPercent, threeOff]).discountedPrice).toBe(9_000)
})

test('a sale price below the best discounted price applies, and is not reduced further', () => {
  expect(calculateCurrentVariantPrice(1_000, 650, [tenPercent, threeOff]).discountedPrice).toBe(650)
  expect(calculateCurrentVariantPrice(1_000, 950, [tenPercent]).discountedPrice).toBe(900)
})

test('a sale price above the price has no effect', () => {
  expect(calculateCurrentVariantPrice(1_000, 1_200, []).discountedPrice).toBe(1_000)
})

test('a discounted price is never below zero', () => {
  expect(calculateCurrentVariantPrice(200, null, [threeOff]).discountedPrice).toBe(0)
  expect(
    calculateCurrentVariantPrice(200, null, [{ ...tenPercent, percentage_ppm: 1_000_000 }]).discountedPrice
  ).toBe(0)
})

test('a percentage discount is rounded half up, once', () => {
  expect(calculateCurrentVariantPrice(5, null, [tenPercent]).discountedPrice).toBe(4) // 0.5 off becomes 1
  expect(calculateCurrentVariantPrice(4, null, [tenPercent]).discountedPrice).toBe(4) // 0.4 off becomes 0
})

test('a discount is active at the instant of its start, and not at that of its end', () => {
  expect(calculateCurrentVariantPrice(1_000, null, [{ ...threeOff, starts_in: 0 }]).discountedPrice).toBe(700)
  expect(calculateCurrentVariantPrice(1_000, null, [{ ...threeOff, ends_in: 0 }]).discountedPrice).toBe(1_000)
  expect(calculateCurrentVariantPrice(1_000, null, [{ ...threeOff, starts_in: 1 }]).discountedPrice).toBe(
    1_000
  )
})

test('the next time at which a price can change is the next start or end of a discount', () => {
  const later = { ...threeOff, starts_in: 20, ends_in: 90 }
  expect(calculateCurrentVariantPrice(1_000, null, [tenPercent, later]).changesIn).toBe(20)
  expect(calculateCurrentVariantPrice(1_000, null, [tenPercent]).changesIn).toBe(60)
  expect(calculateCurrentVariantPrice(1_000, null, [{ ...tenPercent, ends_in: null }]).changesIn).toBeNull()
})

test('the price with any discounts is between zero and the price without them', () => {
  fc.assert(
    fc.property(cases, ({ price, salePrice, discounts }) => {
      const { discountedPrice } = calculateCurrentVariantPrice(price, salePrice, discounts)
      expect(Number.isInteger(discountedPrice)).toBe(true)
      expect(discountedPrice).toBeGreaterThanOrEqual(0)
      expect(discountedPrice).toBeLessThanOrEqual(Math.min(price, salePrice ?? price))
    })
  )
})

test('the order of discounts does not matter, and another discount never raises the price', () => {
  fc.assert(
    fc.property(cases, discount, ({ price, salePrice, discounts }, one) => {
      const { discountedPrice } = calculateCurrentVariantPrice(price, salePrice, discounts)
      expect(calculateCurrentVariantPrice(price, salePrice, discounts.toReversed()).discountedPrice).toBe(
        discountedPrice
      )
      expect(
        calculateCurrentVariantPrice(price, salePrice, [...discounts, one]).discountedPrice
      ).toBeLessThanOrEqual(discountedPrice)
    })
  )
})

test('a discounted price stays the same until just before the next change', () => {
  fc.assert(
    fc.property(cases, ({ price, salePrice, discounts }) => {
      const { discountedPrice, changesIn } = calculateCurrentVariantPrice(price, salePrice, discounts)
      const wait = changesIn === null ? 1_000 : changesIn - 1
      const then = discounts.map(each => ({
        ...each,
        starts_in: each.starts_in - wait,
        ends_in: each.ends_in === null ? null : each.ends_in - wait
      }))
      expect(calculateCurrentVariantPrice(price, salePrice, then).discountedPrice).toBe(discountedPrice)
    })
  )
})
