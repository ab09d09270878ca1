import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  compareAreaSizes,
  createAreaMatcher,
  type DeliveryArea,
  type DeliveryAreaSize,
  type DeliveryDestination,
  deliveryAreaFault,
  isAreaPrecedenceAmbiguous,
  normalizeDeliveryArea,
  toMatchableDestination
} from './areas.ts'

const area = (
  country: string,
  postalCode: string | null = null,
  region: string | null = null
): DeliveryArea => normalizeDeliveryArea({ country, region, postalCode }) as DeliveryArea
const reach = (one: DeliveryArea, to: DeliveryDestination) =>
  createAreaMatcher(one)(toMatchableDestination(to))
const holds = (one: DeliveryArea, to: DeliveryDestination) => reach(one, to) !== undefined

test.each([
  ['SE', '11 4*', '114*'],
  ['SE', 'se-114 55', '11455'],
  ['DE', '10000 - 19999', '10000-19999'],
  ['DE', '01000-01999', '01000-01999'],
  ['GB', 'sw1a', 'SW1A'],
  ['PL', '00-950', '00950']
])('postal codes of %s, written %s, are stored as %s', (country, written, kept) => {
  expect(area(country, written).postalCode).toBe(kept)
})

test.each(['', '*', '1**', '20000-10000', '10000-19999A', 'ÅÄÖ', '12345678901'])(
  '"%s" is rejected as the postal codes of an area',
  postalCode => {
    expect(normalizeDeliveryArea({ country: 'SE', region: null, postalCode })).toBeUndefined()
  }
)

test('the area "anywhere" accepts neither region nor postal codes', () => {
  expect(normalizeDeliveryArea({ country: '*', region: null, postalCode: null })).toBeDefined()
  expect(normalizeDeliveryArea({ country: '*', region: 'CA', postalCode: null })).toBeUndefined()
  expect(normalizeDeliveryArea({ country: '*', region: null, postalCode: '1*' })).toBeUndefined()
})

test('faultOf returns the invalid part of a shipping or tax area', () => {
  const partOf = (country: string, region: string | null, postalCode: string | null) =>
    deliveryAreaFault({ country, region, postalCode }).part
  expect(normalizeDeliveryArea({ country: 'US', region: 'Calif.', postalCode: null })).toBeUndefined()
  expect(partOf('US', 'Calif.', '*')).toBe('region')
  expect(partOf('US', 'CA', '*')).toBe('postalCode')
  expect(partOf('*', 'CA', null)).toBe('region')
  expect(partOf('*', null, '1*')).toBe('postalCode')
})

test.each<[string, string | null, string | null, DeliveryDestination, boolean]>([
  ['*', null, null, { country: 'SE' }, true],
  ['SE', null, null, { country: 'SE' }, true],
  ['SE', null, null, { country: 'NO' }, false],
  ['US', null, 'CA', { country: 'US', region: 'us-ca' }, true],
  ['US', null, 'US-CA', { country: 'US', region: 'CA' }, true],
  ['US', null, 'CA', { country: 'US', region: 'NY' }, false],
  ['US', null, 'CA', { country: 'US' }, false],
  ['US', null, 'CA', { country: 'US', region: 'Calif.' }, false],
  ['US', null, 'California', { country: 'US', region: 'CA' }, true],
  ['ES', null, 'CN', { country: 'ES', region: 'Las Palmas' }, true],
  ['ES', null, 'GC', { country: 'ES', region: 'CN' }, false],
  ['SE', '11*', null, { country: 'SE', postalCode: '114 55' }, true],
  ['SE', '11*', null, { country: 'SE', postalCode: '124 55' }, false],
  ['SE', '11*', null, { country: 'SE' }, false],
  ['SE', '11*', null, { country: 'NO', postalCode: '1145' }, false],
  ['DE', '10000-19999', null, { country: 'DE', postalCode: '10115' }, true],
  ['DE', '10000-19999', null, { country: 'DE', postalCode: '20095' }, false],
  ['DE', '10000-19999', null, { country: 'DE', postalCode: '1234' }, false],
  ['GB', 'SW1A', null, { country: 'GB', postalCode: 'sw1a 1aa' }, true],
  ['GB', 'SW1A', null, { country: 'GB', postalCode: 'SW1A1AA' }, true],
  ['GB', 'SW1A', null, { country: 'GB', postalCode: 'SW1A' }, true],
  ['GB', 'SW1', null, { country: 'GB', postalCode: 'SW1A 1AA' }, false],
  ['GB', 'SW1*', null, { country: 'GB', postalCode: 'SW1A 1AA' }, true],
  ['NL', '1012', null, { country: 'NL', postalCode: '1012 AB' }, true],
  ['US', '12345', null, { country: 'US', postalCode: '12345-6789' }, true],
  ['US', '12000-12999', null, { country: 'US', postalCode: '12345-6789' }, true],
  ['SE', '114', null, { country: 'SE', postalCode: '114 55' }, false]
])(
  'an area of %s with postal codes %s and region %s contains the address %o: %s',
  (country, codes, region, to, expected) => {
    expect(holds(area(country, codes, region), to)).toBe(expected)
  }
)

test('an area of a region takes precedence over an area of the larger region around it', () => {
  const [inner, outer] = [area('ES', null, 'GC'), area('ES', null, 'CN')]
  const reaches = [inner, outer].map(each => reach(each, { country: 'ES', region: 'GC' }) ?? expect.fail())
  expect(compareAreaSizes(reaches[0] as DeliveryAreaSize, reaches[1] as DeliveryAreaSize)).toBeLessThan(0)
  expect(isAreaPrecedenceAmbiguous(inner, outer)).toBe(false)
})

test('areas take precedence in this order: a complete postal code, fewer codes, a region, the country, anywhere', () => {
  const to = { country: 'DE', region: 'BE', postalCode: '10115' }
  const areas = [
    area('DE', '10115', 'BE'),
    area('DE', '10115'),
    area('DE', '10115-10116'),
    area('DE', '1011*'),
    area('DE', '10100-10150'),
    area('DE', '10*'),
    area('DE', null, 'BE'),
    area('DE'),
    area('*')
  ]
  const reaches = areas.map(each => reach(each, to) ?? expect.fail(each.country))
  reaches.slice(1).forEach((next, index) => {
    expect(compareAreaSizes(reaches[index] ?? next, next), JSON.stringify(areas[index])).toBeLessThan(0)
  })
})

test.each<[string, string | null, string | null, boolean]>([
  ['DE', '10*', '10*', true],
  ['DE', '10*', '11*', false],
  ['DE', '10*', '101*', false],
  ['DE', '10000-19999', '1*', true],
  ['DE', '10000-19999', '15000-24999', true],
  ['DE', '10000-19999', '15000-15999', false],
  ['DE', '10000-19999', '20000-29999', false],
  ['DE', '10115', '10115-10115', true],
  ['DE', '10115', '10115*', true],
  ['DE', null, null, true],
  ['DE', null, '1*', false],
  ['GB', 'SW1A', 'SW1A*', true],
  ['US', '12345', '123450000-123459999', true],
  ['US', '12345-12345', '123450000-123459999', true]
])(
  'in %s, the areas with postal codes %s and %s can both match an address with the same precision: %s',
  (country, one, other, expected) => {
    expect(isAreaPrecedenceAmbiguous(area(country, one), area(country, other))).toBe(expected)
    expect(isAreaPrecedenceAmbiguous(area(country, other), area(country, one))).toBe(expected)
  }
)

const digits = (min: number, max: number) => fc.stringMatching(new RegExp(`^\\d{${min},${max}}$`))
const range = (length: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: 10 ** length - 1 }), fc.integer({ min: 0, max: 10 ** length - 1 }))
    .map(([a, b]) =>
      [Math.min(a, b), Math.max(a, b)].map(each => String(each).padStart(length, '0')).join('-')
    )
const postal = fc.oneof(
  fc.constant(null),
  digits(1, 3).map(text => `${text}*`),
  digits(3, 3),
  digits(5, 5),
  range(3),
  range(5)
)
const region = fc.constantFrom(null, 'CA')

test('two areas that contain a place have different precision there, unless their precedence is ambiguous', () => {
  // Few digits, so that areas often overlap.
  const near = (text: string | null) => text?.replace(/[2-9]/g, digit => String(Number(digit) % 2)) ?? null
  const some = fc.tuple(fc.constantFrom('US', '*'), postal, region)
  let met = 0
  fc.assert(
    fc.property(some, some, digits(5, 5), fc.boolean(), (first, second, code, isLong) => {
      const [one, other] = [first, second].map(([country, postalCode, region]) =>
        normalizeDeliveryArea(
          country === '*'
            ? { country, region: null, postalCode: null }
            : { country, region, postalCode: near(postalCode) }
        )
      )
      if (one === undefined || other === undefined) return
      const to = { country: 'US', region: 'CA', postalCode: (near(code) ?? '') + (isLong ? '0000' : '') }
      const [a, b] = [reach(one, to), reach(other, to)]
      if (a === undefined || b === undefined) return
      met += 1
      if (compareAreaSizes(a, b) === 0) expect(isAreaPrecedenceAmbiguous(one, other)).toBe(true)
    }),
    { numRuns: 20_000, seed: 7 }
  )
  expect(met).toBeGreaterThan(1_000)
})
