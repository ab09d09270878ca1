import { expect, test } from 'vitest'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import {
  adjustInheritedPriceBreaks,
  flattenPriceBreaks,
  unitPriceAtQuantity,
  unitPriceInCompactBreaks
} from './breaks.ts'

const breaks = [
  { fromQuantity: 2, priceMinor: 1_000 },
  { fromQuantity: 10, priceMinor: 905 }
]

test('the price of a variant is that of the highest quantity break that is reached', () => {
  const quantities = [1, 2, 9, 10, 1_000]
  const prices = [undefined, 1_000, 1_000, 905, 905]
  expect(quantities.map(quantity => unitPriceAtQuantity(breaks, quantity))).toEqual(prices)
  expect(unitPriceAtQuantity([], 1)).toBeUndefined()
  expect(quantities.map(quantity => unitPriceInCompactBreaks(flattenPriceBreaks(breaks), quantity))).toEqual(
    prices
  )
  expect(unitPriceInCompactBreaks([], 1)).toBeUndefined()
})

test('an adjustment of a price list raises or lowers every price, rounded half up', () => {
  const pricesAt = (ppm: number) =>
    adjustInheritedPriceBreaks(breaks, ppm).map(({ priceMinor }) => priceMinor)
  expect(pricesAt(0)).toEqual([1_000, 905])
  expect(pricesAt(-100_000)).toEqual([900, 815]) // 814.5
  expect(pricesAt(250_000)).toEqual([1_250, 1_131]) // 1,131.25
  expect(pricesAt(-1_000_000)).toEqual([0, 0])
  expect(
    adjustInheritedPriceBreaks([{ fromQuantity: 1, priceMinor: AMOUNT_MAX }], 10_000_000)[0]?.priceMinor
  ).toBe(AMOUNT_MAX)
})
