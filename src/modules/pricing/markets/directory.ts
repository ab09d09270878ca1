import { LOWEST_ID } from '../../../kernel/ids.ts'
import { type CacheInvalidator, createCachedReader } from '../../../platform/cached.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { marketUnknownError } from '../errors.ts'
import type { QuoteMarket } from '../quote/input.ts'
import * as repository from './repository.ts'
import { MARKETS_MAX, type PublicMarketsResponse } from './schema.ts'

/** A market of a quote, with its locale and price list. */
export type Market = QuoteMarket & {
  readonly locale: string
  readonly priceListId: string | null
  /** Whether orders to the countries of this market are placed in this market only. */
  readonly exclusive: boolean
}
/** Market name or destination country of a request. */
type MarketQuery = { name?: string | undefined; country?: string | undefined }

/** Caches the active markets in this process. */
export function createMarketDirectory({
  db,
  invalidation
}: {
  db: Database
  invalidation: CacheInvalidator
}) {
  const listActive = createCachedReader(invalidation, async () => {
    const rows = await db.rows(repository.listMarkets, { code: '', id: LOWEST_ID, limit: MARKETS_MAX })
    return rows.filter(({ active }) => active).map(row => ({ row, market: marketOf(row) }))
  })

  /** See `PricingApi.markets`. */
  async function resolve({ name, country }: MarketQuery): Promise<Market> {
    const all = await listActive()
    if (name !== undefined) {
      const named = all.find(({ market }) => market.code === name)
      if (named === undefined)
        throw marketUnknownError({ details: { known: all.map(({ market }) => market.code) } })
      return named.market
    }
    const chosen =
      all.find(({ market }) => country !== undefined && market.countries.includes(country)) ??
      all.find(({ row }) => row.is_default)
    if (chosen === undefined) throw new Error('there is no default market')
    return chosen.market
  }

  /** See `PricingApi.markets`. */
  const isCurrent = (market: Market): boolean =>
    listActive.peek()?.some(each => each.market === market) ?? false

  /** See `PricingApi.markets`. */
  const list = async (): Promise<Market[]> => (await listActive()).map(({ market }) => market)

  const listPublic = async (): Promise<PublicMarketsResponse> => ({
    items: (await listActive()).map(({ row }) => row)
  })

  return { resolve, isCurrent, list, listPublic }
}
export type MarketDirectory = ReturnType<typeof createMarketDirectory>

const marketOf = (row: repository.MarketRow): Market => ({
  code: row.code,
  currency: row.currency,
  countries: row.countries,
  pricesIncludeTax: row.prices_include_tax,
  taxRounding: row.tax_rounding,
  cashRoundingMinor: row.cash_rounding,
  locale: row.locale,
  priceListId: row.price_list_id,
  exclusive: row.exclusive
})
