import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import { createMarketDirectory, type ShopMarket } from './markets/directory.ts'
import { marketRoutes } from './markets/routes.ts'
import { createMarketService, ensureDefaultMarket } from './markets/service.ts'
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
}

/** Markets, and what is paid in them. */
export const pricingModule = defineModule({
  name: 'pricing',
  description: 'Markets: where the shop sells, in which currencies.',
  basePaths: ['/api/markets', '/api/admin/markets'],
  requires: {},
  uses: {},
  migrations: new URL('./migrations/', import.meta.url),
  setup: async ({ config, db, broadcast }) => {
    const changes = createChanges(broadcast)
    await ensureDefaultMarket(db, changes, config.shop.currency)
    const directory = createMarketDirectory({ db, changes })
    const markets = createMarketService({ db, changes })
    const api: PricingApi = { markets: { resolve: directory.resolve } }
    const routes = (tiers: Tiers) => marketRoutes(tiers, markets, directory)
    return { api, routes }
  }
})
