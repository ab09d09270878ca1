import type { Tiers } from '../../gateway/routing/tiers.ts'
import { type MarketRequest, requestedMarket } from '../../kernel/wire.ts'
import { defineModule } from '../../module.ts'
import { createCacheInvalidator } from '../../platform/cached.ts'
import { createMetadataCommand, type MetadataCommands } from '../../platform/metadata-command.ts'
import type { Database, Queryable, Transaction, TransactionRunner } from '../../platform/postgres/database.ts'
import {
  createPromotionCodeFindingExplainer,
  type ExplainPromotionCodeFindingsToAdmin
} from './dry-run/finding-explainer.ts'
import { promotionDryRunRoutes } from './dry-run/routes.ts'
import { createPromotionDryRunService } from './dry-run/service.ts'
import { pricesChangedEvent } from './events.ts'
import { createPricingPeriodParser } from './input-formats/periods.ts'
import { createMarketDirectory, type Market } from './markets/directory.ts'
import { marketRoutes } from './markets/routes.ts'
import { createMarketService, ensureDefaultMarket } from './markets/service.ts'
import { createPriceChangeBroadcaster } from './price-lists/price-changes.ts'
import { priceListRoutes } from './price-lists/routes.ts'
import { createPriceListService } from './price-lists/service.ts'
import { createCachedPriceLookup } from './prices/cache.ts'
import { createPriceListCsv } from './prices/csv.ts'
import { priceRoutes } from './prices/routes.ts'
import { createPriceService } from './prices/service.ts'
import {
  type MarketPriceList,
  readPriceListsOfAllMarkets,
  readUncachedListPrices
} from './prices/uncached.ts'
import { promotionCodeRoutes } from './promotion-codes/routes.ts'
import { createPromotionCodeService } from './promotion-codes/service.ts'
import { createPromotionRedemptionListService } from './promotions/redemption-list.ts'
import { promotionRedemptionRoutes } from './promotions/redemption-routes.ts'
import { promotionRoutes } from './promotions/routes.ts'
import { createPromotionService } from './promotions/service.ts'
import type { PromotionRedemption } from './quote/promotions.ts'
import { computeQuote } from './quote/quote.ts'
import { createQuoteRulesReader, type ReadQuoteRules } from './quote-rules/service.ts'
import { type HasEarlierOrder, orderHistoryPort } from './redemptions/order-history.ts'
import { pricingPersonalData } from './redemptions/personal-data.ts'
import {
  assignPromotionRedemptionsToMailbox,
  createPromotionRedeemer,
  createRedemptionTransactionRunner,
  releasePromotionRedemptions,
  type TransactionWithPromotionRedemptions
} from './redemptions/redeem.ts'
import { taxEnginePort } from './tax-engine/port.ts'
import { type ComputeQuoteByTaxEngine, createTaxEngineService } from './tax-engine/service.ts'
import { createTaxRateCsv } from './taxes/csv.ts'
import { taxExemptionRoutes } from './taxes/exemption-routes.ts'
import { createTaxExemptionService } from './taxes/exemption-service.ts'
import { taxCategoryRoutes, taxRateRoutes, taxZoneRoutes } from './taxes/routes.ts'
import { createTaxCategoryService, createTaxRateService, createTaxZoneService } from './taxes/service.ts'

export { pricesChangedEvent } from './events.ts'
export type { Market } from './markets/directory.ts'
export type { MarketPriceList } from './prices/uncached.ts'
export type { PriceComponent as Component } from './quote/components.ts'
export type { QuoteFinding as Finding } from './quote/findings.ts'
export type { ComponentTax, QuoteInput, QuoteLine } from './quote/input.ts'
export type { Quote } from './quote/quote.ts'
export type { TaxableComponent } from './quote/taxable-components.ts'
export { orderHistoryPort } from './redemptions/order-history.ts'
export { findTaxAnswerFault } from './tax-engine/answers.ts'
export { type TaxEngine, type TaxRequest, taxEnginePort } from './tax-engine/port.ts'
export type { AppliedTaxEngine } from './tax-engine/service.ts'

/**
 * Resolves the market of a request, for routes with `inMarket` in their schema. Null when the module is
 * off.
 */
export type ResolveRequestMarket = (request: MarketRequest) => Promise<Market | null>
export const createRequestMarketResolver =
  (pricing: PricingApi | undefined): ResolveRequestMarket =>
  async request =>
    pricing === undefined ? null : pricing.markets.resolve({ name: requestedMarket(request) })

/** API of pricing for other modules. Pricing does not interpret ids of variants, products and categories. */
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
   * `undefined`: the list has no price for the variant, so the catalog's price applies. From memory, or one
   * statement for all missing prices.
   */
  prices(
    wanted: readonly { readonly variantId: string; readonly quantity: number }[],
    market: Pick<Market, 'priceListId'>
  ): Promise<(number | undefined)[]>
  /** Reads the price lists of all markets, in this transaction. */
  marketLists(db: Queryable): Promise<MarketPriceList[]>
  /** Reads the same as `prices` for each of these lists, in this transaction. One statement. */
  pricesIn(
    db: Queryable,
    lists: readonly MarketPriceList[],
    wanted: readonly { readonly variantId: string; readonly quantity: number }[]
  ): Promise<(number | undefined)[][]>
  /** Computes the price of a basket. Pure. @throws `PRICING_QUOTE_TOO_LARGE` */
  quote: typeof computeQuote
  /**
   * Returns the function that computes a quote with the taxes of the tax engine, outside of transactions. `undefined`: the
   * shop has no engine.
   */
  quoteByTaxEngine(): ComputeQuoteByTaxEngine | undefined
  /**
   * Reads what a quote needs: promotions (also those of the codes), taxes, and the buyer's uses,
   * first-order status and tax exemptions. `customer`: the account, or a keyed hash of a guest. `mailbox`:
   * the keyed hash of the buyer's e-mail address, to also count paid orders of that address. From memory,
   * except codes and limited promotions.
   */
  readRules: ReadQuoteRules
  /** Explains to administrators why codes have no effect in a quote of the same rules. */
  explainFindings: ExplainPromotionCodeFindingsToAdmin
  /**
   * Opens transactions that redeem these redemptions of a quote. Only a few transactions per limited
   * promotion run at a time; waiting transactions hold no connection: `write.once(pricing.serializedBy(db,
   * quote.redemptions), work)`.
   */
  serializedBy(
    db: Database,
    redemptions: readonly PromotionRedemption[]
  ): TransactionRunner<TransactionWithPromotionRedemptions>
  /**
   * Redeems for `owner` what the transaction was opened for. Idempotent. `customer` and `mailbox` as in
   * `readRules`. Limited uses are counted at commit, which then fails with `PRICING_USED_UP`.
   * @throws `PRICING_CUSTOMER_LIMIT`, `PRICING_FIRST_ORDER_TAKEN`, `PRICING_PROMOTION_GONE`
   */
  redeem(
    tx: TransactionWithPromotionRedemptions,
    owner: string,
    customer: string,
    mailbox?: string | null
  ): Promise<void>
  /**
   * Counts the redemptions of a paid order for the mailbox of its buyer. Before payment they count for
   * `customer` only, because a typed e-mail address proves nothing. Idempotent.
   */
  countPaidRedemptions(tx: Transaction, owner: string, mailbox: string): Promise<void>
  /** Releases all redemptions of `owner` within the caller's transaction. Idempotent. */
  release(tx: Transaction, owner: string): Promise<void>
  /** Changes the metadata of price lists. @throws `PRICING_PRICE_LIST_NOT_FOUND`, `METADATA_LIMIT`, `METADATA_INVALID` */
  readonly priceLists: MetadataCommands
  /** Changes the metadata of promotions. @throws `PRICING_PROMOTION_NOT_FOUND`, `METADATA_LIMIT`, `METADATA_INVALID` */
  readonly promotions: MetadataCommands
}

const DELETE_SECONDS = 300

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
  emits: [pricesChangedEvent],
  ports: [orderHistoryPort, taxEnginePort],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  setup: async ({ config, db, broadcast, emit, log, metrics, ports, timers }) => {
    const periods = createPricingPeriodParser(config.shop.time_zone)
    const invalidation = createCacheInvalidator(broadcast, 'pricing')
    const priceChanges = createPriceChangeBroadcaster({ broadcast, emit })
    await ensureDefaultMarket(db, invalidation, config.shop.currency)
    const directory = createMarketDirectory({ db, invalidation })
    const markets = createMarketService({ db, invalidation, priceChanges })
    // Exemptions have a separate broadcast topic, because they are many rows and promotions change more
    // often.
    const exemptionChanges = createCacheInvalidator(broadcast, 'pricing.exemptions')
    const hasOrdered: HasEarlierOrder = async (...buyer) =>
      (await ports.only(orderHistoryPort)?.(...buyer)) ?? false
    const rules = createQuoteRulesReader({ db, invalidation, exemptionChanges, hasOrdered })
    const explain = createPromotionCodeFindingExplainer(db)
    const priceLists = createPriceListService({ db, invalidation, priceChanges })
    const promotions = createPromotionService({ db, invalidation, periods })
    const taxEngine = createTaxEngineService({ db, log, metrics, ports })
    timers.untilEmpty(DELETE_SECONDS, 'delete expired tax answers', taxEngine.deleteExpired)
    const api: PricingApi = {
      markets: { resolve: directory.resolve, list: directory.list },
      prices: createCachedPriceLookup({ db, invalidation, priceChanges }),
      marketLists: readPriceListsOfAllMarkets,
      pricesIn: readUncachedListPrices,
      quote: computeQuote,
      quoteByTaxEngine: taxEngine.quoteByEngine,
      readRules: rules,
      explainFindings: explain,
      serializedBy: createRedemptionTransactionRunner,
      redeem: createPromotionRedeemer(hasOrdered),
      countPaidRedemptions: assignPromotionRedemptionsToMailbox,
      release: releasePromotionRedemptions,
      priceLists: { updateMetadata: createMetadataCommand(priceLists.patch) },
      promotions: { updateMetadata: createMetadataCommand(promotions.patch) }
    }
    const routes = (tiers: Tiers) => {
      marketRoutes(tiers, markets, directory)
      priceListRoutes(tiers, priceLists)
      const taxes = { db, invalidation, periods }
      taxCategoryRoutes(tiers, createTaxCategoryService(taxes))
      taxZoneRoutes(tiers, createTaxZoneService(taxes))
      taxRateRoutes(tiers, createTaxRateService(taxes), createTaxRateCsv(taxes))
      taxExemptionRoutes(tiers, createTaxExemptionService({ db, invalidation: exemptionChanges, periods }))
      promotionDryRunRoutes(
        tiers,
        createPromotionDryRunService({ markets: directory, readRules: rules, explain })
      )
      promotionRoutes(tiers, promotions)
      promotionCodeRoutes(tiers, createPromotionCodeService({ db }))
      promotionRedemptionRoutes(tiers, createPromotionRedemptionListService({ db }))
      const prices = { db, changes: priceChanges }
      priceRoutes(tiers, createPriceService(prices), createPriceListCsv(prices))
    }
    return { api, routes, personalData: pricingPersonalData({ db, exemptionChanges }) }
  }
})
