import type { Tiers } from '../../gateway/routing/tiers.ts'
import type { MarketRequest } from '../../kernel/wire.ts'
import { defineModule } from '../../module.ts'
import { createChanges } from '../../platform/kept.ts'
import type { Transaction } from '../../platform/postgres/database.ts'
import { codeRoutes } from './codes/routes.ts'
import { createCodeService } from './codes/service.ts'
import { dryRunRoutes } from './dry-run/routes.ts'
import { createDryRunService } from './dry-run/service.ts'
import { createMarketDirectory, type ShopMarket as Market } from './markets/directory.ts'
import { marketRoutes } from './markets/routes.ts'
import { createMarketService, ensureDefaultMarket } from './markets/service.ts'
import { createPeriods } from './periods/instants.ts'
import { priceListRoutes } from './price-lists/routes.ts'
import { createPriceListService } from './price-lists/service.ts'
import { createPrices } from './prices/cache.ts'
import { createPriceChanges } from './prices/changes.ts'
import { createPriceFiles } from './prices/csv.ts'
import { priceRoutes } from './prices/routes.ts'
import { createPriceService } from './prices/service.ts'
import { promotionRoutes } from './promotions/routes.ts'
import { createPromotionService } from './promotions/service.ts'
import type { Redemption } from './quote/promotions.ts'
import { redeem, release } from './redemptions/doors.ts'
import { redemptionRoutes } from './redemptions/routes.ts'
import { createRedemptionService } from './redemptions/service.ts'
import { createRules, type ReadRules } from './rules/service.ts'
import { createRateFiles } from './taxes/csv.ts'
import { categoryRoutes, rateRoutes, zoneRoutes } from './taxes/routes.ts'
import { createTaxCategoryService, createTaxRateService, createTaxZoneService } from './taxes/service.ts'

export type { ShopMarket as Market } from './markets/directory.ts'

/** For routes with `inMarket` in their schema: where a request buys; null where the module is switched off. */
export type MarketOf = (request: MarketRequest) => Promise<Market | null>

/** What other modules ask about prices. To it the ids of variants, products and categories mean nothing. */
export type PricingApi = {
  markets: {
    /**
     * The market of this name; else the one of this country; else the default one. From memory, and current within a
     * second. @throws `PRICING_MARKET_UNKNOWN`, naming those that there are.
     */
    resolve(wanted: { name?: string | undefined; country?: string | undefined }): Promise<Market>
  }
  /**
   * What one of each of these costs in this market when so many are bought, in their order, in minor units; `undefined` where
   * its list has nothing for the variant, or for so few, and the catalog's price holds. From memory, or one statement for
   * all that is not there.
   */
  prices(
    wanted: readonly { readonly variantId: string; readonly quantity: number }[],
    market: Pick<Market, 'priceListId'>
  ): Promise<(number | undefined)[]>
  /**
   * What a quote takes of the shop: promotions, those of these codes too, and taxes; and how often the customer used them. From
   * memory, but for codes and for what has a limit.
   */
  rules: ReadRules
  /**
   * Takes, within the caller's transaction, what the quote says that it redeems, for `owner`: once, however often it is
   * called. `customer`: the account, or the keyed hash of an address. What is limited is taken with the commit, which then
   * fails with `PRICING_USED_UP`; for promotions that many want at once begin the transaction in turn (`db.inTurn`).
   * @throws `PRICING_CUSTOMER_LIMIT`, `PRICING_FIRST_ORDER_TAKEN`, `PRICING_PROMOTION_GONE`
   */
  redeem(tx: Transaction, owner: string, redemptions: readonly Redemption[], customer: string): Promise<void>
  /** Gives back, within the caller's transaction, all that `owner` has taken, once. */
  release(tx: Transaction, owner: string): Promise<void>
}

/** Markets, and what is paid in them. */
export const pricingModule = defineModule({
  name: 'pricing',
  description:
    'Markets: where the shop sells, in which currencies, at which prices, what is taken off, and taxes.',
  basePaths: [
    '/api/markets',
    '/api/admin/markets',
    '/api/admin/price-lists',
    '/api/admin/promotions',
    '/api/admin/taxes'
  ],
  contexts: ['x-market'],
  requires: {},
  uses: {},
  migrations: new URL('./migrations/', import.meta.url),
  setup: async ({ config, db, broadcast }) => {
    const periods = createPeriods(config.shop.time_zone)
    const changes = createChanges(broadcast, 'pricing')
    const priceChanges = createPriceChanges(broadcast)
    await ensureDefaultMarket(db, changes, config.shop.currency)
    const directory = createMarketDirectory({ db, changes })
    const markets = createMarketService({ db, changes })
    const rules = createRules({ db, changes })
    const api: PricingApi = {
      markets: { resolve: directory.resolve },
      prices: createPrices({ db, changes, priceChanges }),
      rules,
      redeem,
      release
    }
    const routes = (tiers: Tiers) => {
      marketRoutes(tiers, markets, directory)
      priceListRoutes(tiers, createPriceListService({ db, changes }))
      const taxes = { db, changes, periods }
      categoryRoutes(tiers, createTaxCategoryService(taxes))
      zoneRoutes(tiers, createTaxZoneService(taxes))
      rateRoutes(tiers, createTaxRateService(taxes), createRateFiles(taxes))
      dryRunRoutes(tiers, createDryRunService({ markets: directory, readRules: rules }))
      promotionRoutes(tiers, createPromotionService({ db, changes, periods }))
      codeRoutes(tiers, createCodeService({ db }))
      redemptionRoutes(tiers, createRedemptionService({ db }))
      const prices = { db, changes: priceChanges }
      priceRoutes(tiers, createPriceService(prices), createPriceFiles(prices))
    }
    return { api, routes }
  }
})
