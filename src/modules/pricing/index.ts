import type { Tiers } from '../../gateway/routing/tiers.ts'
import { type MarketRequest, marketNamed } from '../../kernel/wire.ts'
import { defineModule } from '../../module.ts'
import { createChanges } from '../../platform/kept.ts'
import type { Database, Queryable, Transaction, Transactions } from '../../platform/postgres/database.ts'
import { codeRoutes } from './codes/routes.ts'
import { createCodeService } from './codes/service.ts'
import { createExplain, type Explain } from './dry-run/explain.ts'
import { dryRunRoutes } from './dry-run/routes.ts'
import { createDryRunService } from './dry-run/service.ts'
import { pricesOfPeople } from './erasure/service.ts'
import { pricesChanged } from './events.ts'
import { exemptionRoutes } from './exemptions/routes.ts'
import { createExemptionService } from './exemptions/service.ts'
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
import { type MarketList, readMarketLists, readPrices } from './prices/uncached.ts'
import { promotionRoutes } from './promotions/routes.ts'
import { createPromotionService } from './promotions/service.ts'
import type { Redemption } from './quote/promotions.ts'
import { quote } from './quote/quote.ts'
import {
  countPaid,
  createRedeem,
  type HasOrdered,
  inTurn,
  type Redeeming,
  release
} from './redemptions/doors.ts'
import { redemptionRoutes } from './redemptions/routes.ts'
import { createRedemptionService } from './redemptions/service.ts'
import { createRules, type ReadRules } from './rules/service.ts'
import { createRateFiles } from './taxes/csv.ts'
import { categoryRoutes, rateRoutes, zoneRoutes } from './taxes/routes.ts'
import { createTaxCategoryService, createTaxRateService, createTaxZoneService } from './taxes/service.ts'

export { pricesChanged } from './events.ts'
export type { ShopMarket as Market } from './markets/directory.ts'
export type { MarketList } from './prices/uncached.ts'
export type { Component } from './quote/components.ts'
export type { Finding } from './quote/findings.ts'
export type { QuoteInput, QuoteLine } from './quote/input.ts'
export type { Quote } from './quote/quote.ts'

/** For routes with `inMarket` in their schema: where a request buys; null where the module is switched off. */
export type MarketOf = (request: MarketRequest) => Promise<Market | null>
export const marketsOfRequests =
  (pricing: PricingApi | undefined): MarketOf =>
  async request =>
    pricing === undefined ? null : pricing.markets.resolve({ name: marketNamed(request) })

/** What other modules ask about prices. To it the ids of variants, products and categories mean nothing. */
export type PricingApi = {
  markets: {
    /**
     * The market of this name; else the one of this country; else the default one. From memory, and current within a
     * second. @throws `PRICING_MARKET_UNKNOWN`, naming those that there are.
     */
    resolve(wanted: { name?: string | undefined; country?: string | undefined }): Promise<Market>
    /** Those in which anybody can buy. */
    list(): Promise<readonly Market[]>
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
  /** The price lists that markets have, as the database says in this transaction, or now. */
  marketLists(db: Queryable): Promise<MarketList[]>
  /** What `prices` answers, for each of these lists, as the database says in this transaction, or now. One statement. */
  pricesIn(
    db: Queryable,
    lists: readonly MarketList[],
    wanted: readonly { readonly variantId: string; readonly quantity: number }[]
  ): Promise<(number | undefined)[][]>
  /** What a basket costs, and why. Pure. @throws `PRICING_QUOTE_TOO_LARGE` */
  quote: typeof quote
  /**
   * What a quote takes of the shop: promotions, those of these codes too, and taxes; and of the buyer: how often they used
   * promotions, whether a first order can be theirs, and why they pay no tax. `customer`: the account, or a keyed hash that stands
   * for a guest; `mailbox`: the keyed hash of the buyer's e-mail address, to also count paid orders of that address. From memory, but for codes and for what has a limit.
   */
  rules: ReadRules
  /** Why codes have no effect in a quote that was made of the same, in words for administrators alone. */
  explain: Explain
  /**
   * Where a transaction begins that redeems what a quote says; no other one can. Of those who want the same few uses
   * a few come at a time, and the others hold no connections while they wait: `write.once(pricing.inTurn(db, quote.redemptions), work)`.
   */
  inTurn(db: Database, redemptions: readonly Redemption[]): Transactions<Redeeming>
  /**
   * Takes, within such a transaction, what it began for, for `owner`: once, however often it is called. `customer` and
   * `mailbox` as in `rules`. What is limited is taken with the commit, which then fails with
   * `PRICING_USED_UP`. @throws `PRICING_CUSTOMER_LIMIT`, `PRICING_FIRST_ORDER_TAKEN`, `PRICING_PROMOTION_GONE`
   */
  redeem(tx: Redeeming, owner: string, customer: string, mailbox?: string | null): Promise<void>
  /**
   * Counts, within the caller's transaction, what `owner` has taken for the mailbox of its buyer: its order is paid. Until then it
   * counts for `customer` alone, because an e-mail address that was only typed proves nothing. Has no effect when repeated.
   */
  countPaid(tx: Transaction, owner: string, mailbox: string): Promise<void>
  /** Gives back, within the caller's transaction, all that `owner` has taken, once. */
  release(tx: Transaction, owner: string): Promise<void>
  /**
   * Whoever keeps orders says at its set-up how to find out who has ordered. Without it, only those have who used what is for
   * first orders alone.
   */
  askOrders(hasOrdered: HasOrdered): void
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
  emits: [pricesChanged],
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: true,
  setup: async ({ config, db, broadcast, emit }) => {
    const periods = createPeriods(config.shop.time_zone)
    const changes = createChanges(broadcast, 'pricing')
    const priceChanges = createPriceChanges({ broadcast, emit })
    await ensureDefaultMarket(db, changes, config.shop.currency)
    const directory = createMarketDirectory({ db, changes })
    const markets = createMarketService({ db, changes, priceChanges })
    // Apart: who is exempt is many rows, and promotions change more often.
    const exemptionChanges = createChanges(broadcast, 'pricing.exemptions')
    let ordersKnow: HasOrdered = async () => false
    const hasOrdered: HasOrdered = (...asked) => ordersKnow(...asked)
    const rules = createRules({ db, changes, exemptionChanges, hasOrdered })
    const explain = createExplain(db)
    const api: PricingApi = {
      markets: { resolve: directory.resolve, list: directory.list },
      prices: createPrices({ db, changes, priceChanges }),
      marketLists: readMarketLists,
      pricesIn: readPrices,
      quote,
      rules,
      explain,
      inTurn,
      redeem: createRedeem(hasOrdered),
      countPaid,
      release,
      askOrders: wanted => {
        ordersKnow = wanted
      }
    }
    const routes = (tiers: Tiers) => {
      marketRoutes(tiers, markets, directory)
      priceListRoutes(tiers, createPriceListService({ db, changes, priceChanges }))
      const taxes = { db, changes, periods }
      categoryRoutes(tiers, createTaxCategoryService(taxes))
      zoneRoutes(tiers, createTaxZoneService(taxes))
      rateRoutes(tiers, createTaxRateService(taxes), createRateFiles(taxes))
      exemptionRoutes(tiers, createExemptionService({ db, changes: exemptionChanges, periods }))
      dryRunRoutes(tiers, createDryRunService({ markets: directory, readRules: rules, explain }))
      promotionRoutes(tiers, createPromotionService({ db, changes, periods }))
      codeRoutes(tiers, createCodeService({ db }))
      redemptionRoutes(tiers, createRedemptionService({ db }))
      const prices = { db, changes: priceChanges }
      priceRoutes(tiers, createPriceService(prices), createPriceFiles(prices))
    }
    return { api, routes, people: pricesOfPeople({ db, exemptionChanges }) }
  }
})
