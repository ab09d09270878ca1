import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import { createMarketDirectory, type ShopMarket } from './markets/directory.ts'
import { marketRoutes } from './markets/routes.ts'
import { createMarketService, ensureDefaultMarket } from './markets/service.ts'
import { priceListRoutes } from './price-lists/routes.ts'
import { createPriceListService } from './price-lists/service.ts'
import type { PriceBreaks } from './prices/breaks.ts'
import { createPrices } from './prices/cache.ts'
import { createPriceChanges } from './prices/changes.ts'
import { priceRoutes } from './prices/routes.ts'
import { createPriceService } from './prices/service.ts'
import { createChanges } from './revision/changes.ts'

/** What other modules ask about prices. To it the ids of variants, products and categories mean nothing. */
export type PricingApi = {
  markets: {
    /**
     * The market of this name; else the one of this country; else the default one. From memory, and current within a
     * second. @throws `PRICING_MARKET_UNKNOWN`, naming those that there are.
     */
    resolve(wanted: { name?: string | undefined; country?: string | undefined }): Promise<ShopMarket>
  }
  /**
   * What each of these variants costs by quantity in this market, in their order; `undefined` where its list has nothing for
   * the variant, and the catalog's price holds. From memory, or one statement for all that is not there.
   */
  prices(
    variantIds: readonly string[],
    market: Pick<ShopMarket, 'priceListId'>
  ): Promise<(PriceBreaks | undefined)[]>
}

/** Markets, and what is paid in them. */
export const pricingModule = defineModule({
  name: 'pricing',
  description: 'Markets: where the shop sells, in which currencies, and at which prices.',
  basePaths: ['/api/markets', '/api/admin/markets', '/api/admin/price-lists'],
  contexts: ['x-market'],
  requires: {},
  uses: {},
  migrations: new URL('./migrations/', import.meta.url),
  setup: async ({ config, db, broadcast }) => {
    const changes = createChanges(broadcast)
    const priceChanges = createPriceChanges(broadcast)
    await ensureDefaultMarket(db, changes, config.shop.currency)
    const directory = createMarketDirectory({ db, changes })
    const markets = createMarketService({ db, changes })
    const api: PricingApi = {
      markets: { resolve: directory.resolve },
      prices: createPrices({ db, changes, priceChanges })
    }
    const routes = (tiers: Tiers) => {
      marketRoutes(tiers, markets, directory)
      priceListRoutes(tiers, createPriceListService({ db, changes }))
      priceRoutes(tiers, createPriceService({ db, changes: priceChanges }))
    }
    return { api, routes }
  }
})
