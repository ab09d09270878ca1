import { expect, test } from 'vitest'
import {
  findCurrenciesWithoutShippingRate,
  type MarketCountriesAndCurrency,
  type ShippingZoneRateCoverage
} from './missing-rates.ts'

const home: MarketCountriesAndCurrency = { code: 'default', currency: 'USD', countries: [] }
const euro: MarketCountriesAndCurrency = { code: 'eu', currency: 'EUR', countries: ['DE', 'FR'] }
const dublin: MarketCountriesAndCurrency = { code: 'ie', currency: 'EUR', countries: ['IE'] }
const place = (
  zone_id: string | null,
  countries: string[],
  ...currencies: string[]
): ShippingZoneRateCoverage => ({
  zone_id,
  countries,
  currencies
})

test("a method lacks rates in a market's currency in zones where it has other currencies", () => {
  const places = [place('us', ['US'], 'USD'), place('de', ['DE'], 'USD'), place('world', ['*'], 'USD', 'EUR')]
  expect(findCurrenciesWithoutShippingRate('shipping', places, [home, euro, dublin])).toEqual([
    { currency: 'EUR', markets: ['eu'], zone_ids: ['de'] }
  ])
  const world = [place('world', ['*'], 'EUR')]
  expect(findCurrenciesWithoutShippingRate('shipping', world, [home, euro])).toEqual([
    { currency: 'USD', markets: ['default'], zone_ids: ['world'] }
  ])
})

test('a shipping zone with rates in all currencies, or in none, lacks no rate', () => {
  expect(
    findCurrenciesWithoutShippingRate('shipping', [place('de', ['DE'], 'EUR', 'USD')], [home, euro])
  ).toEqual([])
  expect(findCurrenciesWithoutShippingRate('shipping', [], [home, euro])).toEqual([])
  expect(
    findCurrenciesWithoutShippingRate('shipping', [place('us', ['US'], 'USD')], [home, euro, dublin])
  ).toEqual([])
})

test('pickup and digital methods lack a rate in each currency that has none', () => {
  const eur = { currency: 'EUR', markets: ['eu', 'ie'], zone_ids: null }
  const usd = { currency: 'USD', markets: ['default'], zone_ids: null }
  const markets = [home, euro, dublin]
  expect(findCurrenciesWithoutShippingRate('pickup', [place(null, [], 'USD')], markets)).toEqual([eur])
  expect(findCurrenciesWithoutShippingRate('digital', [], markets)).toEqual([eur, usd])
})
