import fc from 'fast-check'
import { expect, test } from 'vitest'
import { REGIONS_SPELLED } from '../../test/support/regions.ts'
import { addressRegionFault, findRegionCode, REGION_MESSAGE, regionCodesInnermostFirst } from './regions.ts'

test.each(REGIONS_SPELLED)(
  'in the country %s, each spelling of %s is that region code',
  (country, code, spellings) => {
    for (const text of [code, `${country}-${code}`, ...spellings])
      expect(findRegionCode(country, text), text).toBe(code)
  }
)

test.each([
  ['US', 'Calif.'],
  ['US', 'X'],
  ['US', ''],
  ['US', ' - '],
  // In Cyrillic letters.
  ['US', '\u0421\u0410'],
  ['US', 'MX-BCN'],
  ['US', 'BY'],
  ['DE', 'US-CA'],
  ['HK', 'Kowloon'],
  ['*', 'CA'],
  // A county and a town have this name, so it is ambiguous.
  ['HU', 'Veszpr\u00e9m']
])('the country %s has no region "%s"', (country, text) => {
  expect(findRegionCode(country, text)).toBeUndefined()
})

test('a region code takes precedence over a region name, and postal regions are known', () => {
  expect(findRegionCode('PE', 'ICA')).toBe('ICA')
  expect(findRegionCode('HU', 'vm')).toBe('VM')
  expect(findRegionCode('US', 'us-ae')).toBe('AE')
})

test('regionCodesInnermostFirst returns a region and the regions that contain it', () => {
  expect(regionCodesInnermostFirst('ES', 'Barcelona')).toEqual(['B', 'CT'])
  expect(regionCodesInnermostFirst('ES', 'CT')).toEqual(['CT'])
  expect(regionCodesInnermostFirst('US', 'California')).toEqual(['CA'])
})

test.each([
  [undefined, [], undefined],
  ['Nowhere', [], undefined],
  [undefined, ['CN'], 'is required'],
  ['Nowhere', ['CN'], REGION_MESSAGE],
  ['Las Palmas', ['CN'], undefined],
  ['CN', ['CN'], undefined],
  ['MD', ['CN', 'GC'], undefined],
  // The Canary Islands consist of this province and another one.
  ['CN', ['CN', 'GC'], 'must be a smaller region within CN, such as GC']
])(
  'for the region "%s" in Spain, when taxes or rates depend on the areas %j, the fault is: %s',
  (text, named, fault) => {
    expect(addressRegionFault('ES', text, new Set(named))).toBe(fault)
  }
)

test('any text means at most one region, and the code of that region means the same region', () => {
  fc.assert(
    fc.property(fc.constantFrom('US', 'ES', 'AZ', 'XX'), fc.string({ unit: 'grapheme' }), (country, text) => {
      const code = findRegionCode(country, text)
      if (code !== undefined) expect(findRegionCode(country, `${country}-${code}`.toLowerCase())).toBe(code)
    })
  )
})
