import { expect, test } from 'vitest'
import { findExceededUnpaidStockLimit, type UnpaidStockLimits } from './limits.ts'

const limits: UnpaidStockLimits = {
  buyer: { unitsMax: 20, sharePercent: 50, unitsAlways: 5 },
  network: { unitsMax: 40, sharePercent: 50, unitsAlways: 5 },
  unverified: { unitsMax: 100, sharePercent: 80, unitsAlways: 15 }
}
const none = { buyer: 1, network: 1, unverified: 1 }
/** A variant with `reserved` of `stock` units in unpaid orders, all of one unverified buyer and network. */
const variant = (requested: number, stock: number, reserved = requested, by = {}) => ({
  variantId: 'mug',
  requested,
  available: stock - reserved,
  reserved,
  by: { buyer: reserved, network: reserved, unverified: reserved, ...by }
})
const excessOf = (totals: object, ...variants: ReturnType<typeof variant>[]) =>
  findExceededUnpaidStockLimit({ ...none, ...totals }, variants, limits)

test('a usual unpaid order exceeds no stock limit, and five units of any variant are always allowed', () => {
  expect(excessOf({}, variant(1, 1), variant(5, 5), variant(10, 20))).toBeUndefined()
})

test.each([
  ['buyer', 20],
  ['network', 40],
  ['unverified', 100]
])('unpaid units of the %s are limited to %i', (scope, limit) => {
  expect(excessOf({ [scope]: limit }, variant(1, 100))).toBeUndefined()
  expect(excessOf({ [scope]: limit + 1 }, variant(1, 100))).toEqual({ scope, limit, items: [] })
})

test('a buyer may reserve half of the free and unpaid units without payment, rounded down', () => {
  expect(excessOf({}, variant(10, 21))).toBeUndefined()
  expect(excessOf({}, variant(11, 21))).toEqual({
    scope: 'buyer',
    limit: undefined,
    items: [{ variantId: 'mug', requested: 11, allowed: 10 }]
  })
})

test('unpaid units that the buyer reserves already count, and the error states how many are allowed', () => {
  expect(excessOf({}, variant(3, 20, 12))?.items).toEqual([{ variantId: 'mug', requested: 3, allowed: 1 }])
  expect(excessOf({}, variant(3, 20, 18))?.items).toEqual([{ variantId: 'mug', requested: 3, allowed: 0 }])
})

test('all unverified buyers share one limit of unpaid units', () => {
  const others = { buyer: 1, network: 1 }
  expect(excessOf({}, variant(1, 20, 16, others))).toBeUndefined()
  expect(excessOf({}, variant(1, 20, 17, others))).toMatchObject({ scope: 'unverified', limit: undefined })
  expect(excessOf({}, variant(1, 20, 17, { ...others, unverified: 16 }))).toBeUndefined()
})

test('a stock of ten can be reserved by unverified buyers without payment, at most five units each', () => {
  expect(excessOf({}, variant(1, 10, 10, { buyer: 1, network: 1 }))).toBeUndefined()
  expect(excessOf({}, variant(5, 10, 10, { buyer: 5, network: 5 }))).toBeUndefined()
  expect(excessOf({}, variant(6, 10, 10, { buyer: 6, network: 6 }))?.items).toEqual([
    { variantId: 'mug', requested: 6, allowed: 5 }
  ])
})

test('a limit of unpaid units whose scope does not apply to the buyer limits nothing', () => {
  expect(excessOf({ network: null, unverified: null }, variant(9, 20, 19, { buyer: 9 }))).toBeUndefined()
})
