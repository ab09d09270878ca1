import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DeliveryArea, isAreaPrecedenceAmbiguous, normalizeDeliveryArea } from '../../../kernel/areas.ts'
import { newId } from '../../../kernel/ids.ts'
import {
  indexShippingRules,
  listShippingOptionsOfParcel,
  type ShippingMethod,
  type ShippingParcel,
  type ShippingPriceStep,
  type ShippingRate,
  type ShippingZone
} from './options.ts'

const area = (
  country: string,
  postalCode: string | null = null,
  region: string | null = null
): DeliveryArea =>
  normalizeDeliveryArea({ country, region, postalCode }) ?? expect.fail(`${country} ${postalCode}`)
const zone = (id: string, ...areas: DeliveryArea[]): ShippingZone => ({ id, areas })
const method = (id: string, fields: Partial<ShippingMethod> = {}): ShippingMethod => ({
  id,
  kind: 'shipping',
  provider: 'Post',
  service: `Service ${id}`,
  estimatedDays: { min: 1, max: 3 },
  taxCategory: null,
  position: 1,
  ...fields
})
const rate = (
  methodId: string,
  zoneId: string | null,
  price: ShippingRate['price'],
  fields: Partial<ShippingRate> = {}
): ShippingRate => ({
  methodId,
  zoneId,
  currency: 'EUR',
  price,
  freeFromMinor: null,
  ...fields
})
const at = (country: string, postalCode?: string) => ({ country, postalCode })
const parcel = (fields: Partial<ShippingParcel> = {}): ShippingParcel => ({
  destination: at('SE'),
  weightGrams: 500,
  valueMinor: 2_000,
  items: 2,
  currency: 'EUR',
  requiresShipping: true,
  ...fields
})
const SE = zone('se', area('SE'))
const WORLD = zone('world', area('*'))
const byWeight = (...steps: [number | null, number][]): ShippingRate['price'] => ({
  by: 'weight',
  steps: steps.map(([upTo, amountMinor]) => ({ upTo, amountMinor }))
})

test('shipping options are sorted by price, then by position, and have the fields that a buyer needs to choose', () => {
  const rules = indexShippingRules(
    [SE],
    [method('c', { position: 2 }), method('b', { position: 2 }), method('a', { position: 3 }), method('d')],
    [rate('a', 'se', 300), rate('b', 'se', 500), rate('c', 'se', 500), rate('d', 'se', 500)]
  )
  const options = listShippingOptionsOfParcel(rules, parcel())
  expect(options.map(({ service }) => service)).toEqual(['Service a', 'Service d', 'Service b', 'Service c'])
  expect(options[0]).toEqual({
    id: expect.any(String),
    methodId: 'a',
    method: 'shipping',
    provider: 'Post',
    service: 'Service a',
    amountMinor: 300,
    currency: 'EUR',
    estimatedDays: { min: 1, max: 3 },
    taxCategory: null
  })
})

test('a destination is in one shipping zone, and a method without a rate there is not offered', () => {
  const islands = zone('islands', area('SE', '62*'))
  const rules = indexShippingRules(
    [WORLD, SE, islands],
    [method('post'), method('express')],
    [
      rate('post', 'se', 500),
      rate('post', 'islands', 900),
      rate('express', 'se', 1_500),
      rate('post', 'world', 2_500)
    ]
  )
  const amounts = (destination: ShippingParcel['destination']) =>
    listShippingOptionsOfParcel(rules, parcel({ destination })).map(({ amountMinor }) => amountMinor)
  expect(amounts(at('SE', '114 55'))).toEqual([500, 1_500])
  expect(amounts(at('SE', '621 57'))).toEqual([900])
  expect(amounts(at('JP'))).toEqual([2_500])
  expect(
    listShippingOptionsOfParcel(
      indexShippingRules([SE], [method('post')], [rate('post', 'se', 500)]),
      parcel({ destination: at('NO') })
    )
  ).toEqual([])
})

test('a shipping method without a rate in the currency is no option, and no methods give no options', () => {
  const rules = indexShippingRules([SE], [method('post')], [rate('post', 'se', 500, { currency: 'SEK' })])
  expect(listShippingOptionsOfParcel(rules, parcel())).toEqual([])
  expect(listShippingOptionsOfParcel(rules, parcel({ currency: 'SEK' }))).toMatchObject([
    { amountMinor: 500, currency: 'SEK' }
  ])
  expect(listShippingOptionsOfParcel(indexShippingRules([], [], []), parcel())).toEqual([])
})

test('shipped items can be picked up, items without shipping get digital options, and neither needs a zone', () => {
  const rules = indexShippingRules(
    [SE],
    [method('post'), method('shop', { kind: 'pickup' }), method('mail', { kind: 'digital' })],
    [rate('post', 'se', 500), rate('shop', null, 0), rate('mail', null, 0)]
  )
  const kinds = (fields: Partial<ShippingParcel>) =>
    listShippingOptionsOfParcel(rules, parcel(fields)).map(option => option.method)
  expect(kinds({})).toEqual(['pickup', 'shipping'])
  expect(kinds({ destination: at('NO') })).toEqual(['pickup'])
  expect(kinds({ destination: null })).toEqual(['pickup'])
  expect(kinds({ requiresShipping: false })).toEqual(['digital'])
})

test('a step of a shipping rate table includes its bound, and beyond the last bound there is no option', () => {
  const price = byWeight([1_000, 500], [5_000, 900])
  const rules = indexShippingRules(
    [SE],
    [method('post')],
    [rate('post', 'se', price, { freeFromMinor: 10_000 })]
  )
  const amount = (fields: Partial<ShippingParcel>) =>
    listShippingOptionsOfParcel(rules, parcel(fields))[0]?.amountMinor
  expect([0, 1_000, 1_001, 5_000, 5_001].map(weightGrams => amount({ weightGrams }))).toEqual([
    500,
    500,
    900,
    900,
    undefined
  ])
  expect([9_999, 10_000].map(valueMinor => amount({ valueMinor }))).toEqual([500, 0])
  expect(amount({ valueMinor: 10_000, weightGrams: 5_001 })).toBeUndefined()
})

test.each([
  ['value', { valueMinor: 3_000 }],
  ['items', { items: 3_000 }],
  ['weight', { weightGrams: 3_000 }]
] as const)('a shipping rate table by %s depends on that alone', (by, fields) => {
  const steps = [
    { upTo: 2_999, amountMinor: 1 },
    { upTo: null, amountMinor: 2 }
  ]
  const rules = indexShippingRules([SE], [method('post')], [rate('post', 'se', { by, steps })])
  expect(listShippingOptionsOfParcel(rules, parcel())).toMatchObject([{ amountMinor: 1 }])
  expect(listShippingOptionsOfParcel(rules, parcel(fields))).toMatchObject([{ amountMinor: 2 }])
})

test('the id of a shipping option survives price changes, and differs by method and zone', () => {
  const [se, no, post, express] = Array.from({ length: 4 }, newId) as [string, string, string, string]
  const zones = [zone(se, area('SE')), zone(no, area('NO'))]
  const idOf = (methodId: string, country: 'SE' | 'NO', price: number) => {
    const rules = indexShippingRules(
      zones,
      [method(methodId)],
      [rate(methodId, country === 'SE' ? se : no, price)]
    )
    return listShippingOptionsOfParcel(rules, parcel({ destination: at(country) }))[0]?.id
  }
  expect(idOf(post, 'SE', 500)).toBe(idOf(post, 'SE', 900))
  expect(new Set([idOf(post, 'SE', 1), idOf(express, 'SE', 1), idOf(post, 'NO', 1)]).size).toBe(3)
})

const ascending = fc
  .uniqueArray(fc.tuple(fc.nat(10_000), fc.nat(10_000)), {
    minLength: 1,
    maxLength: 8,
    selector: ([bound]) => bound
  })
  .map(pairs => {
    const bounds = pairs.map(([bound]) => bound).sort((a, b) => a - b)
    const amounts = pairs.map(([, amount]) => amount).sort((a, b) => a - b)
    return bounds.map((upTo, index): ShippingPriceStep => ({ upTo, amountMinor: amounts[index] ?? 0 }))
  })

test('with a rising shipping rate table, a larger parcel never costs less', () => {
  fc.assert(
    fc.property(
      ascending,
      fc.constantFrom('weight', 'value', 'items'),
      fc.nat(11_000),
      fc.nat(11_000),
      (steps, by, one, other) => {
        const rules = indexShippingRules([SE], [method('post')], [rate('post', 'se', { by, steps })])
        const amount = (measure: number) =>
          listShippingOptionsOfParcel(
            rules,
            parcel({ weightGrams: measure, valueMinor: measure, items: measure })
          )[0]?.amountMinor ?? Number.POSITIVE_INFINITY
        const [less, more] = [Math.min(one, other), Math.max(one, other)]
        expect(amount(less)).toBeLessThanOrEqual(amount(more))
      }
    )
  )
})

const someArea = fc
  .tuple(
    fc.constantFrom('SE', 'ES', '*'),
    fc.constantFrom(null, '1*', '11*', '114*', '11455', '11400-11499', '10000-19999', '11450-11460'),
    fc.constantFrom(null, 'AB', 'C')
  )
  .map(([country, postalCode, region]) => (country === '*' ? area('*') : area(country, postalCode, region)))
const toldApart = fc
  .array(someArea, { maxLength: 12 })
  .map(areas =>
    areas.filter((one, index) => !areas.slice(0, index).some(other => isAreaPrecedenceAmbiguous(one, other)))
  )

test('the order of zones, methods and rates does not change the shipping options', () => {
  const destination = fc.record({
    country: fc.constantFrom('SE', 'ES', 'DK'),
    region: fc.constantFrom('AB', 'C'),
    postalCode: fc.constantFrom('11455', '11500', '20000')
  })
  fc.assert(
    fc.property(toldApart, destination, fc.nat(), (areas, to, turn) => {
      const zones = areas.map((each, index) => zone(`z${index}`, each))
      const methods = ['a', 'b'].map(id => method(id))
      const rates = zones.flatMap(({ id }, index) =>
        methods.map(each => rate(each.id, id, index * 10 + (each.id === 'a' ? 1 : 0)))
      )
      const turned = <T>(all: readonly T[]) =>
        all.map((_, index) => all[(index + turn) % all.length] as T).toReversed()
      const requested = parcel({ destination: to })
      expect(
        listShippingOptionsOfParcel(
          indexShippingRules(turned(zones), turned(methods), turned(rates)),
          requested
        )
      ).toEqual(listShippingOptionsOfParcel(indexShippingRules(zones, methods, rates), requested))
    }),
    { numRuns: 1_000 }
  )
})
