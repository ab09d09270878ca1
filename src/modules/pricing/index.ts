import type { Tiers } from '../../gateway/routing/tiers.ts'
import { type MarketRequest, requestedMarket } from '../../kernel/wire.ts'
import { defineModule } from '../../module.ts'
import { createCacheInvalidator } from '../../platform/cached.ts'
import { createMetadataCommand } from '../../platform/metadata-command.ts'
import type { PricingApi } from './api.ts'
import { createPromotionCodeFindingExplainer } from './dry-run/finding-explainer.ts'
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
import { readPriceListsOfAllMarkets, readUncachedListPrices } from './prices/uncached.ts'
import { promotionCodeRoutes } from './promotion-codes/routes.ts'
import { createPromotionCodeService } from './promotion-codes/service.ts'
import { createPromotionRedemptionListService } from './promotions/redemption-list.ts'
import { promotionRedemptionRoutes } from './promotions/redemption-routes.ts'
import { promotionRoutes } from './promotions/routes.ts'
import { createPromotionService } from './promotions/service.ts'
import { computeQuote } from './quote/quote.ts'
import { createQuoteRulesReader } from './quote-rules/service.ts'
import { type HasEarlierOrder, orderHistoryPort } from './redemptions/order-history.ts'
import { pricingPersonalData } from './redemptions/personal-data.ts'
import {
  assignPromotionRedemptionsToMailbox,
  createPromotionRedeemer,
  createRedemptionTransactionRunner,
  releasePromotionRedemptions
} from './redemptions/redeem.ts'
import { taxEnginePort } from './tax-engine/port.ts'
import { createTaxEngineService } from './tax-engine/service.ts'
import { createTaxRateCsv } from './taxes/csv.ts'
import { taxExemptionRoutes } from './taxes/exemption-routes.ts'
import { createTaxExemptionService } from './taxes/exemption-service.ts'
import { taxCategoryRoutes, taxRateRoutes, taxZoneRoutes } from './taxes/routes.ts'
import { createTaxCategoryService, createTaxRateService, createTaxZoneService } from './taxes/service.ts'

export type { PricingApi } from './api.ts'
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
  setup: async ({ config, openBudget, db, broadcast, emit, log, metrics, ports, timers }) => {
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
    const taxEngine = createTaxEngineService({ config, openBudget, db, log, metrics, ports })
    timers.untilEmpty(DELETE_SECONDS, 'delete expired tax answers', taxEngine.deleteExpired)
    const api: PricingApi = {
      markets: { resolve: directory.resolve, isCurrent: directory.isCurrent, list: directory.list },
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
