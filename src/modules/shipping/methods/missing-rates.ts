import { ANY_COUNTRY } from '../../../kernel/areas.ts'
import type { ShippingMethodKind } from '../rules/options.ts'

/** A zone in which a method has rates. `countries`: those that the zone has areas in. */
export type ShippingZoneRateCoverage = {
  readonly zone_id: string | null
  readonly currencies: readonly string[]
  readonly countries: readonly string[]
}
/** A market. Without countries, buyers of any country use it. */
export type MarketCountriesAndCurrency = {
  readonly code: string
  readonly currency: string
  readonly countries: readonly string[]
}
/** A currency in which a method has no rate, with its markets and zones. */
type MissingRate = { currency: string; markets: string[]; zone_ids: string[] | null }

/**
 * Lists the market currencies in which a method probably lacks a rate by mistake. Rates are never converted, so buyers in that
 * currency are not offered the method. A method of kind `shipping` lacks one only in zones with rates in other currencies.
 */
export function findCurrenciesWithoutShippingRate(
  kind: ShippingMethodKind,
  places: readonly ShippingZoneRateCoverage[],
  markets: readonly MarketCountriesAndCurrency[]
): MissingRate[] {
  const byCurrency = [...Map.groupBy(markets, market => market.currency)].sort(([a], [b]) => (a < b ? -1 : 1))
  return byCurrency.flatMap(([currency, theirs]): MissingRate[] => {
    const lacking = places.filter(({ currencies }) => !currencies.includes(currency))
    if (kind !== 'shipping') {
      const isThere = places.some(({ currencies }) => currencies.includes(currency))
      return isThere ? [] : [{ currency, markets: theirs.map(({ code }) => code), zone_ids: null }]
    }
    const concerned = theirs.filter(market => lacking.some(place => sendsTo(market, place)))
    const zones = lacking.filter(place => concerned.some(market => sendsTo(market, place)))
    if (zones.length === 0) return []
    const zone_ids = zones.map(({ zone_id }) => zone_id).filter(id => id !== null)
    return [{ currency, markets: concerned.map(({ code }) => code), zone_ids }]
  })
}

const sendsTo = (market: MarketCountriesAndCurrency, { countries }: ShippingZoneRateCoverage): boolean =>
  market.countries.length === 0 ||
  countries.some(country => country === ANY_COUNTRY || market.countries.includes(country))
