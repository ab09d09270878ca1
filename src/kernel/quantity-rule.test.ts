import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAllowedQuantity, largestAllowedQuantity } from './quantity-rule.ts'

const anyRule = fc
  .record({
    step: fc.integer({ min: 1, max: 12 }),
    least: fc.nat({ max: 4 }),
    more: fc.option(fc.nat({ max: 5 }))
  })
  .map(({ step, least, more }) => {
    const min = (least + 1) * step
    return { min, max: more === null ? null : min + more * step, step }
  })

test('the fitting quantity is the largest one that the buying rule allows, or 0 without one', () => {
  fc.assert(
    fc.property(anyRule, fc.nat({ max: 150 }), (rule, quantity) => {
      const smaller = Array.from({ length: quantity + 1 }, (_, less) => quantity - less)
      expect(largestAllowedQuantity(quantity, rule)).toBe(
        smaller.find(each => isAllowedQuantity(each, rule)) ?? 0
      )
    })
  )
})

test.each([
  [5, false],
  [6, true],
  [7, false],
  [12, true],
  [18, true],
  [24, false]
])(
  'with a minimum of 6, a maximum of 18 and steps of 6, the quantity %i is valid: %s',
  (quantity, expected) => {
    expect(isAllowedQuantity(quantity, { min: 6, max: 18, step: 6 })).toBe(expected)
  }
)
