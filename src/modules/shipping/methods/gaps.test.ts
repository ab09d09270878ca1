import { expect, test } from 'vitest'
import { type Market, missingRates, type Place } from './gaps.ts'

const home: Market = { code: 'default', currency: 'USD', countries: [] }
const euro: Market = { code: 'eu', currency: 'EUR', countries: ['DE', 'FR'] }
const dublin: Market = { code: 'ie', currency: 'EUR', countries: ['IE'] }
const place = (zone_id: string | null, countries: string[], ...currencies: string[]): Place => ({
  zone_id,
  countries,
  currencies
})

test('a method lacks a currency in the zones where it has others, for the markets that send something there', () => {
  const places = [place('us', ['US'], 'USD'), place('de', ['DE'], 'USD'), place('world', ['*'], 'USD', 'EUR')]
  expect(missingRates('shipping', places, [home, euro, dublin])).toEqual([
    { currency: 'EUR', markets: ['eu'], zone_ids: ['de'] }
  ])
  const world = [place('world', ['*'], 'EUR')]
  expect(missingRates('shipping', world, [home, euro])).toEqual([
    { currency: 'USD', markets: ['default'], zone_ids: ['world'] }
  ])
})

test('where it has rates in all currencies, or in none, nothing is missing', () => {
  expect(missingRates('shipping', [place('de', ['DE'], 'EUR', 'USD')], [home, euro])).toEqual([])
  expect(missingRates('shipping', [], [home, euro])).toEqual([])
  expect(missingRates('shipping', [place('us', ['US'], 'USD')], [home, euro, dublin])).toEqual([])
})

test('pickup and digital delivery have no zones: each currency is missing that has no rate', () => {
  const eur = { currency: 'EUR', markets: ['eu', 'ie'], zone_ids: null }
  const usd = { currency: 'USD', markets: ['default'], zone_ids: null }
  const markets = [home, euro, dublin]
  expect(missingRates('pickup', [place(null, [], 'USD')], markets)).toEqual([eur])
  expect(missingRates('digital', [], markets)).toEqual([eur, usd])
})
