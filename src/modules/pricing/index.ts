import type { Tiers } from '../../gateway/routing/tiers.ts'
import { type MarketRequest, marketNamed } from '../../kernel/wire.ts'
import { defineModule } from '../../module.ts'
import { createInvalidation } from '../../platform/cached.ts'
import type { Database, Queryable, Transaction, Transactions } from '../../platform/postgres/database.ts'
import { createExplain, type Explain } from './dry-run/explain.ts'
import { dryRunRoutes } from './dry-run/routes.ts'
import { createDryRunService } from './dry-run/service.ts'
import { pricesChanged } from './events.ts'
import { createPeriods } from './input-formats/periods.ts'
import { createMarketDirectory, type ShopMarket as Market } from './markets/directory.ts'
import { marketRoutes } from './markets/routes.ts'
import { createMarketService, ensureDefaultMarket } from './markets/service.ts'
import { createPriceChanges } from './price-lists/changes.ts'
import { priceListRoutes } from './price-lists/routes.ts'
import { createPriceListService } from './price-lists/service.ts'
import { createPrices } from './prices/cache.ts'
import { createPriceFiles } from './prices/csv.ts'
import { priceRoutes } from './prices/routes.ts'
import { createPriceService } from './prices/service.ts'
import { type MarketList, readMarketLists, readPrices } from './prices/uncached.ts'
import { codeRoutes } from './promotion-codes/routes.ts'
import { createCodeService } from './promotion-codes/service.ts'
import { createRedemptionService } from './promotions/redemption-list.ts'
import { redemptionRoutes } from './promotions/redemption-routes.ts'
import { promotionRoutes } from './promotions/routes.ts'
import { createPromotionService } from './promotions/service.ts'
import type { Redemption } from './quote/promotions.ts'
import { quote } from './quote/quote.ts'
import { createReadRules, type ReadRules } from './quote-rules/service.ts'
import { pricingPersonalData } from './redemptions/personal-data.ts'
import {
  countPaidRedemptions,
  createRedeem,
  type HasOrdered,
  type RedeemingTransaction,
  releaseRedemptions,
  serializedBy
} from './redemptions/redeem.ts'
import { createRateFiles } from './taxes/csv.ts'
import { exemptionRoutes } from './taxes/exemption-routes.ts'
import { createExemptionService } from './taxes/exemption-service.ts'
import { categoryRoutes, rateRoutes, zoneRoutes } from './taxes/routes.ts'
import { createTaxCategoryService, createTaxRateService, createTaxZoneService } from './taxes/service.ts'

export { pricesChanged } from './events.ts'
export type { ShopMarket as Market } from './markets/directory.ts'
export type { MarketList } from './prices/uncached.ts'
export type { PriceComponent as Component } from './quote/components.ts'
export type { QuoteFinding as Finding } from './quote/findings.ts'
export type { QuoteInput, QuoteLine } from './quote/input.ts'
export type { Quote } from './quote/quote.ts'

/**
 * Resolves the market of a request, for routes with `inMarket` in their schema. Null when the module is
 * off.
 */
export type MarketOf = (request: MarketRequest) => Promise<Market | null>
export const marketsOfRequests =
  (pricing: PricingApi | undefined): MarketOf =>
  async request =>
    pricing === undefined ? null : pricing.markets.resolve({ name: marketNamed(request) })

/** API of pricing for other modules. Ids of variants, products and categories are opaque to it. */
export type PricingApi = {
  markets: {
    /**
     * Returns the market of this name, else of this country, else the default market. From memory, current
     * within a second.
     * @throws `PRICING_MARKET_UNKNOWN` with the known markets
     */
    resolve(wanted: { name?: string | undefined; country?: string | undefined }): Promise<Market>
    /** Returns the active markets. */
    list(): Promise<readonly Market[]>
  }
  /**
   * Returns the unit price of each variant at its quantity in this market, in order, in minor units.
   * `undefined`: the list has no price for it, so the catalog's price applies. From memory, or one
   * statement for all missing prices.
   */
  prices(
    wanted: readonly { readonly variantId: string; readonly quantity: number }[],
    market: Pick<Market, 'priceListId'>
  ): Promise<(number | undefined)[]>
  /** Reads the price lists of all markets, in this transaction. */
  marketLists(db: Queryable): Promise<MarketList[]>
  /** Reads the same as `prices` for each of these lists, in this transaction. One statement. */
  pricesIn(
    db: Queryable,
    lists: readonly MarketList[],
    wanted: readonly { readonly variantId: string; readonly quantity: number }[]
  ): Promise<(number | undefined)[][]>
  /** Computes the price of a basket. Pure. @throws `PRICING_QUOTE_TOO_LARGE` */
  quote: typeof quote
  /**
   * Reads what a quote needs: promotions (also those of the codes), taxes, and the buyer's uses,
   * first-order status and tax exemptions. `customer`: the account, or a keyed hash of a guest. `mailbox`:
   * the keyed hash of the buyer's e-mail address, to also count paid orders of that address. From memory,
   * except codes and limited promotions.
   */
  readRules: ReadRules
  /** Explains to administrators why codes have no effect in a quote of the same rules. */
  explainFindings: Explain
  /**
   * Opens transactions that redeem these redemptions of a quote. At most a few per limited promotion run
   * at a time; waiting ones hold no connection: `write.once(pricing.serializedBy(db, quote.redemptions),
   * work)`.
   */
  serializedBy(db: Database, redemptions: readonly Redemption[]): Transactions<RedeemingTransaction>
  /**
   * Redeems for `owner` what the transaction was opened for. Idempotent. `customer` and `mailbox` as in
   * `readRules`. Limited uses are counted at commit, which then fails with `PRICING_USED_UP`.
   * @throws `PRICING_CUSTOMER_LIMIT`, `PRICING_FIRST_ORDER_TAKEN`, `PRICING_PROMOTION_GONE`
   */
  redeem(tx: RedeemingTransaction, owner: string, customer: string, mailbox?: string | null): Promise<void>
  /**
   * Counts the redemptions of a paid order for the mailbox of its buyer. Before payment they count for
   * `customer` only, because a typed e-mail address proves nothing. Idempotent.
   */
  countPaidRedemptions(tx: Transaction, owner: string, mailbox: string): Promise<void>
  /** Releases all redemptions of `owner` within the caller's transaction. Idempotent. */
  release(tx: Transaction, owner: string): Promise<void>
  /**
   * Registers how to find out who has ordered before; the orders module calls it at set-up. Without it
   * only redemptions of first-order promotions count.
   */
  useOrderHistory(hasOrdered: HasOrdered): void
}

/** Markets, prices, promotions, taxes and quotes. */
export const pricingModule = defineModule({
  name: 'pricing',
  description: 'Markets, currencies, price lists, promotions and taxes.',
  basePaths: [
    '/api/markets',
    '/api/admin/markets',
    '/api/admin/price-lists',
    '/api/admin/promotions',
    '/api/admin/taxes'
  ],
  varyHeaders: ['x-market'],
  requires: {},
  uses: {},
  emits: [pricesChanged],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  setup: async ({ config, db, broadcast, emit }) => {
    const periods = createPeriods(config.shop.time_zone)
    const invalidation = createInvalidation(broadcast, 'pricing')
    const priceChanges = createPriceChanges({ broadcast, emit })
    await ensureDefaultMarket(db, invalidation, config.shop.currency)
    const directory = createMarketDirectory({ db, invalidation })
    const markets = createMarketService({ db, invalidation, priceChanges })
    // A separate topic, because exemptions are many rows and promotions change more often.
    const exemptionChanges = createInvalidation(broadcast, 'pricing.exemptions')
    let hasOrderedBefore: HasOrdered = async () => false
    const hasOrdered: HasOrdered = (...asked) => hasOrderedBefore(...asked)
    const rules = createReadRules({ db, invalidation, exemptionChanges, hasOrdered })
    const explain = createExplain(db)
    const api: PricingApi = {
      markets: { resolve: directory.resolve, list: directory.list },
      prices: createPrices({ db, invalidation, priceChanges }),
      marketLists: readMarketLists,
      pricesIn: readPrices,
      quote,
      readRules: rules,
      explainFindings: explain,
      serializedBy,
      redeem: createRedeem(hasOrdered),
      countPaidRedemptions: countPaidRedemptions,
      release: releaseRedemptions,
      useOrderHistory: wanted => {
        hasOrderedBefore = wanted
      }
    }
    const routes = (tiers: Tiers) => {
      marketRoutes(tiers, markets, directory)
      priceListRoutes(tiers, createPriceListService({ db, invalidation, priceChanges }))
      const taxes = { db, invalidation, periods }
      categoryRoutes(tiers, createTaxCategoryService(taxes))
      zoneRoutes(tiers, createTaxZoneService(taxes))
      rateRoutes(tiers, createTaxRateService(taxes), createRateFiles(taxes))
      exemptionRoutes(tiers, createExemptionService({ db, invalidation: exemptionChanges, periods }))
      dryRunRoutes(tiers, createDryRunService({ markets: directory, readRules: rules, explain }))
      promotionRoutes(tiers, createPromotionService({ db, invalidation, periods }))
      codeRoutes(tiers, createCodeService({ db }))
      redemptionRoutes(tiers, createRedemptionService({ db }))
      const prices = { db, changes: priceChanges }
      priceRoutes(tiers, createPriceService(prices), createPriceFiles(prices))
    }
    return { api, routes, personalData: pricingPersonalData({ db, exemptionChanges }) }
  }
})
