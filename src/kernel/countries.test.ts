import { expect, test } from 'vitest'
import { countryCodes, isPostalCode, normalizePostalCode, requiredAddressFields } from './countries.ts'

test('every country has a name and is in the list of countries once', () => {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  expect(countryCodes.filter(code => names.of(code) === undefined)).toEqual([])
  expect(new Set(countryCodes).size).toBe(countryCodes.length)
  expect(countryCodes).toHaveLength(250)
})

test.each([
  ['SE', '114 55', '11455'],
  ['SE', 'se-114 55', '11455'],
  ['LU', 'L-1009', '1009'],
  ['LV', 'LV-1010', '1010'],
  ['GB', 'sw1a 1aa', 'SW1A1AA'],
  ['GB', 'W1A 0AX', 'W1A0AX'],
  ['US', '12345-6789', '123456789'],
  ['CA', 'k1a 0b1', 'K1A0B1'],
  ['PL', '00-950', '00950'],
  ['PT', '1000-205', '1000205'],
  ['JP', '100-0001', '1000001'],
  ['AD', 'AD500', 'AD500'],
  ['NL', '1012 ab', '1012AB'],
  ['HK', '999077', '999077']
])('the postal code of %s, %s, is normalized to %s', (country, text, plain) => {
  expect(normalizePostalCode(country, text)).toBe(plain)
  expect(isPostalCode(country, plain)).toBe(true)
})

test.each([
  ['SE', '1145'],
  ['GB', 'SW1A'],
  ['US', '1234'],
  ['CA', 'K1A0BO'],
  ['NL', '0123AB'],
  ['DE', 'X12345']
])('the country %s has no postal code %s', (country, text) => {
  expect(isPostalCode(country, text)).toBe(false)
})

test('the required fields of an address depend on its country', () => {
  expect(requiredAddressFields('US')).toEqual(['line1', 'city', 'region', 'postal_code'])
  expect(requiredAddressFields('SG')).toEqual(['line1', 'postal_code'])
  expect(requiredAddressFields('HK')).toEqual(['line1', 'region'])
})
