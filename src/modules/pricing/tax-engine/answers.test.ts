import { expect, test } from 'vitest'
import type { TaxableComponent } from '../quote/taxable-components.ts'
import { findTaxAnswerFault } from './answers.ts'

const component = (amountMinor: number, quantity = 1): TaxableComponent => ({
  variantId: null,
  productId: null,
  taxCategory: 'standard',
  quantity,
  amountMinor,
  destination: null
})
const faultOf = (answer: unknown, amountMinor = 10_000, pricesIncludeTax = false, quantity = 1) =>
  findTaxAnswerFault(answer, { components: [component(amountMinor, quantity)], pricesIncludeTax })
const tax = (ratePpm: unknown, taxMinor: unknown) => [{ ratePpm, taxMinor }]

test('a tax that fits its rate is valid, also when the engine rounds each unit', () => {
  expect(faultOf(tax(190_000, 1_900))).toBeUndefined()
  expect(faultOf(tax(190_000, 1_597), 10_000, true)).toBeUndefined()
  expect(faultOf(tax(0, 0))).toBeUndefined()
  expect(faultOf(tax(190_000, 1_950), 10_000, false, 50)).toBeUndefined()
})

test.each([
  ['no list', null],
  ['too few taxes', []],
  ['too many taxes', [...tax(0, 0), ...tax(0, 0)]],
  ['null as a tax', [null]],
  ['a negative tax', tax(190_000, -1_900)],
  ['a tax with a fraction', tax(190_000, 1_900.5)],
  ['a tax as text', tax(190_000, '1900')],
  ['a tax that is not a number', tax(190_000, Number.NaN)],
  ['a negative rate', tax(-190_000, 1_900)],
  ['a rate above 100 %', tax(1_000_001, 10_000)],
  ['a rate in percent', tax(19, 1_900)],
  ['no rate', [{ taxMinor: 1_900 }]],
  ['a rate that does not fit', tax(250_000, 1_900)]
])('an answer of a tax engine with %s is a fault', (_, answer) => {
  expect(faultOf(answer)).toMatch(/A tax engine must|Component 0: /)
})

test('a tax above the amount, and a tax on nothing, are faults', () => {
  expect(faultOf(tax(1_000_000, 4), 3)).toContain('from 0 to the amount 3')
  expect(faultOf(tax(190_000, 1), 0)).toContain('from 0 to the amount 0')
})
