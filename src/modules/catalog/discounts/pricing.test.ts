import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { type Discount, priceNow } from './pricing.ts'

const running = { starts_in: -60, ends_in: 60 }
const tenPercent: Discount = { percentage_ppm: 100_000, amount_minor: null, ...running }
const threeOff: Discount = { percentage_ppm: null, amount_minor: 300, ...running }

const amount = fc.integer({ min: 0, max: AMOUNT_MAX })
const seconds = fc.integer({ min: -100, max: 100 })
const discount: fc.Arbitrary<Discount> = fc
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

test('the price is what it is when nothing is off', () => {
  expect(priceNow(1_000, null, [])).toEqual({ discountedPrice: 1_000, changesIn: null })
})

test('the best single discount counts: they do not add up', () => {
  expect(priceNow(1_000, null, [tenPercent, threeOff]).discountedPrice).toBe(700)
  expect(priceNow(10_000, null, [tenPercent, threeOff]).discountedPrice).toBe(9_000)
})

test('a sale price below the best discount counts, and is not reduced further', () => {
  expect(priceNow(1_000, 650, [tenPercent, threeOff]).discountedPrice).toBe(650)
  expect(priceNow(1_000, 950, [tenPercent]).discountedPrice).toBe(900)
})

test('a sale price above the price takes nothing off', () => {
  expect(priceNow(1_000, 1_200, []).discountedPrice).toBe(1_000)
})

test('nothing is sold below zero', () => {
  expect(priceNow(200, null, [threeOff]).discountedPrice).toBe(0)
  expect(priceNow(200, null, [{ ...tenPercent, percentage_ppm: 1_000_000 }]).discountedPrice).toBe(0)
})

test('a share is rounded half up, once', () => {
  expect(priceNow(5, null, [tenPercent]).discountedPrice).toBe(4) // 0.5 off becomes 1
  expect(priceNow(4, null, [tenPercent]).discountedPrice).toBe(4) // 0.4 off becomes 0
})

test('a discount runs at the instant it starts, and not at the instant it ends', () => {
  expect(priceNow(1_000, null, [{ ...threeOff, starts_in: 0 }]).discountedPrice).toBe(700)
  expect(priceNow(1_000, null, [{ ...threeOff, ends_in: 0 }]).discountedPrice).toBe(1_000)
  expect(priceNow(1_000, null, [{ ...threeOff, starts_in: 1 }]).discountedPrice).toBe(1_000)
})

test('the next start or end is when the price may change', () => {
  const later = { ...threeOff, starts_in: 20, ends_in: 90 }
  expect(priceNow(1_000, null, [tenPercent, later]).changesIn).toBe(20)
  expect(priceNow(1_000, null, [tenPercent]).changesIn).toBe(60)
  expect(priceNow(1_000, null, [{ ...tenPercent, ends_in: null }]).changesIn).toBeNull()
})

test('whatever the discounts, the price lies between zero and what it would be without them', () => {
  fc.assert(
    fc.property(cases, ({ price, salePrice, discounts }) => {
      const { discountedPrice } = priceNow(price, salePrice, discounts)
      expect(Number.isInteger(discountedPrice)).toBe(true)
      expect(discountedPrice).toBeGreaterThanOrEqual(0)
      expect(discountedPrice).toBeLessThanOrEqual(Math.min(price, salePrice ?? price))
    })
  )
})

test('their order does not matter, and one more never makes anything dearer', () => {
  fc.assert(
    fc.property(cases, discount, ({ price, salePrice, discounts }, one) => {
      const { discountedPrice } = priceNow(price, salePrice, discounts)
      expect(priceNow(price, salePrice, discounts.toReversed()).discountedPrice).toBe(discountedPrice)
      expect(priceNow(price, salePrice, [...discounts, one]).discountedPrice).toBeLessThanOrEqual(
        discountedPrice
      )
    })
  )
})

test('the price stays the same until just before the next change', () => {
  fc.assert(
    fc.property(cases, ({ price, salePrice, discounts }) => {
      const { discountedPrice, changesIn } = priceNow(price, salePrice, discounts)
      const wait = changesIn === null ? 1_000 : changesIn - 1
      const then = discounts.map(each => ({
        ...each,
        starts_in: each.starts_in - wait,
        ends_in: each.ends_in === null ? null : each.ends_in - wait
      }))
      expect(priceNow(price, salePrice, then).discountedPrice).toBe(discountedPrice)
    })
  )
})
