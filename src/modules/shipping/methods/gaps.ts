import { ANYWHERE } from '../../../kernel/areas.ts'
import type { Kind } from '../rates/options.ts'

/** Where a method has rates. `countries`: those that the zone has a part of. */
export type Place = {
  readonly zone_id: string | null
  readonly currencies: readonly string[]
  readonly countries: readonly string[]
}
/** A market as far as it matters here; without countries anybody buys in it. */
export type Market = {
  readonly code: string
  readonly currency: string
  readonly countries: readonly string[]
}
/** A currency that a method lacks, for whom, and where. */
type Gap = { currency: string; markets: string[]; zone_ids: string[] | null }

/**
 * Rates are never converted, so whoever buys in a market without a rate in its currency is not offered a method: what of this
 * its administrators may not have meant. That is where it has rates in other currencies, and pickup and digital delivery in
 * any case.
 */
export function missingRates(kind: Kind, places: readonly Place[], markets: readonly Market[]): Gap[] {
  const byCurrency = [...Map.groupBy(markets, market => market.currency)].sort(([a], [b]) => (a < b ? -1 : 1))
  return byCurrency.flatMap(([currency, theirs]): Gap[] => {
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

const sendsTo = (market: Market, { countries }: Place): boolean =>
  market.countries.length === 0 ||
  countries.some(country => country === ANYWHERE || market.countries.includes(country))
