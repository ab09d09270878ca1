import { expect, test } from 'vitest'
import { EXPRESS } from '../../../../test/support/carrier.ts'
import { isId } from '../../../kernel/ids.ts'
import { findProviderRatesFault, optionOfProviderRate } from './options.ts'

test('the id of an option follows from provider and service, and not from its price or its name', () => {
  const idOf = (provider: string, fields: object = {}) =>
    optionOfProviderRate(provider, { ...EXPRESS, ...fields }, 'EUR').id
  const id = idOf('swift')
  expect(isId(id)).toBe(true)
  expect(idOf('swift', { amountMinor: 1, name: 'Tomorrow' })).toBe(id)
  expect(new Set([id, idOf('other'), idOf('swift', { service: 'eco' })]).size).toBe(3)
})

test('an invalid result of a provider is described', () => {
  const rates: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /^rates must be/],
    ['express', /^rates must be/],
    [[null], /^rates\/0 /],
    [[{}], /^rates\/0\/\w+ /],
    [[{ ...EXPRESS, amountMinor: -1 }], /^rates\/0\/amountMinor /],
    [[{ ...EXPRESS, amountMinor: 4.9 }], /^rates\/0\/amountMinor /],
    [[{ ...EXPRESS, amountMinor: Number.NaN }], /^rates\/0\/amountMinor /],
    [[{ ...EXPRESS, amountMinor: '490' }], /^rates\/0\/amountMinor /],
    [[{ ...EXPRESS, amountMinor: 1e300 }], /^rates\/0\/amountMinor /],
    [[{ ...EXPRESS, name: '' }], /^rates\/0\/name /],
    [[{ ...EXPRESS, name: 'a\u0000b' }], /^rates\/0\/name /],
    [[{ ...EXPRESS, carrier: 'x'.repeat(256) }], /^rates\/0\/carrier /],
    [[{ ...EXPRESS, taxCategory: 'No category!' }], /^rates\/0\/taxCategory /],
    [[{ ...EXPRESS, estimatedDays: { min: 3, max: 2 } }], /less than min/],
    [[{ ...EXPRESS, price: 1 }], /^rates\/0\/price /],
    [[EXPRESS, { ...EXPRESS, name: 'Again' }], /same service/],
    [Array.from({ length: 51 }, (_, index) => ({ ...EXPRESS, service: `s${index}` })), /^rates /]
  ]
  for (const [value, fault] of rates) expect(findProviderRatesFault(value), String(fault)).toMatch(fault)
  expect(findProviderRatesFault([])).toBeUndefined()
  expect(
    findProviderRatesFault([EXPRESS, { ...EXPRESS, service: 'eco', estimatedDays: null }])
  ).toBeUndefined()
})
