import type { Tiers } from '../../gateway/routing/tiers.ts'
import type { Delivery, PayloadOf } from '../../kernel/events.ts'
import { defineModule } from '../../module.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import { inventoryModule, stockCrossed } from '../inventory/index.ts'
import { type Market, marketsOfRequests, pricesChanged, pricingModule } from '../pricing/index.ts'
import { categoryRoutes } from './categories/routes.ts'
import { createCategoryService } from './categories/service.ts'
import { discountRoutes } from './discounts/routes.ts'
import { createDiscountService } from './discounts/service.ts'
import { catalogChanged, productChanged } from './events.ts'
import { exportRoutes } from './export/routes.ts'
import { createExporter, type ExportCsv } from './export/service.ts'
import { importRoutes } from './import/routes.ts'
import { createImporter, type ImportCsv } from './import/service.ts'
import { followPrices } from './list-prices/consumer.ts'
import { refreshListPrices } from './list-prices/jobs.ts'
import { refreshAll } from './list-prices/refresh.ts'
import { createListPrices } from './list-prices/service.ts'
import { createOffers } from './offers/markets.ts'
import { createQuote, type QuotedVariant } from './offers/quote.ts'
import { createEntries, type Offer, type Wanted } from './offers/service.ts'
import { productRoutes } from './products/routes.ts'
import { createProductService } from './products/service.ts'
import { createChanges } from './revision/changes.ts'
import { applyDuePrices, checkPrices, repriceProducts } from './revision/jobs.ts'
import { createPages } from './revision/pages.ts'
import { createLowestPrices } from './revision/prices.ts'
import { catalogSettings } from './settings.ts'
import { keepInStock } from './stock/consumer.ts'
import { refreshStock } from './stock/refresh.ts'
import { createRatingsOfPages, type RatingsOf } from './storefront/ratings.ts'
import { storefrontRoutes } from './storefront/routes.ts'
import { createStorefront } from './storefront/service.ts'
import { forgetGoneVariants } from './variants/gone.ts'
import { variantRoutes } from './variants/routes.ts'
import { createVariantService } from './variants/service.ts'

export { catalogChanged, productChanged } from './events.ts'
export type { Report as ImportReport } from './import/report.ts'
export type { Progress as ImportProgress } from './import/service.ts'
export type { QuotedVariant } from './offers/quote.ts'
export type { Offer } from './offers/service.ts'

const REFRESH_STOCK_SECONDS = 3_600

const IMPORT_SECONDS_BOUNDS = [0.1, 0.5, 1, 5, 10, 30, 60, 300]

type Crossed = PayloadOf<typeof stockCrossed>
type PricesChanged = PayloadOf<typeof pricesChanged>
type Refresh = PayloadOf<typeof refreshListPrices>
type Reprice = PayloadOf<typeof repriceProducts>

/** What other modules ask the catalog. */
export type CatalogApi = {
  /**
   * What is offered of these variants in a market, in their order; `null`: in the shop's currency, where nothing is said
   * of markets. `undefined` where a variant does not exist or is not sold. One look-up in memory, or one statement for
   * all that is not there.
   */
  offers(wanted: readonly Wanted[], market: Market | null): Promise<(Offer | undefined)[]>
  /**
   * The same for who sells: all that a price depends on, and what an order keeps of a variant, as the database has it in this
   * transaction, or now. `undefined` only where there is no such variant. One statement, and two more where the market has a price list,
   * however many variants there are.
   */
  quote(
    db: Queryable,
    wanted: readonly Wanted[],
    market: Market | null
  ): Promise<(QuotedVariant | undefined)[]>
  /** What these variants are called or were called, in their order, for sale or not; `null` where nobody knows. */
  names(variantIds: readonly string[]): Promise<(string | null)[]>
  /** @throws `CATALOG_VARIANT_NOT_FOUND` unless there is such a variant, for sale or not. The cart calls this. */
  requireVariant(variantId: string): Promise<void>
  /** The id of an active product, of which an id or a slug is given. @throws `CATALOG_PRODUCT_NOT_FOUND` */
  requireProduct(idOrSlug: string): Promise<string>
  /** Whoever keeps reviews says at their set-up what products are rated: pages and lists of products show it from then on. */
  askReviews(ratingsOf: RatingsOf): void
  /**
   * Imports products from a CSV file as Shopify exports it; `mode` is `best_effort` by default.
   * @throws `CATALOG_IMPORT_FAILED`, with the reason or the report in its details; then nothing was changed.
   */
  importCsv: ImportCsv
  /** All products as a CSV file that `importCsv` reads; what such a file cannot say is left out, and told. */
  exportCsv: ExportCsv
  /** Whether there is no product at all. */
  isEmpty(): Promise<boolean>
  /** Where no variant has a price in the shop's currency, so that none can be sold: the currency of one of them. */
  findOtherCurrency(): Promise<string | undefined>
  /** Up to `limit` offers, those with a sale price first. For showing what can be bought. */
  someOffers(limit: number): Promise<Offer[]>
}

/** Products, variants, categories and discounts. */
export const catalogModule = defineModule({
  name: 'catalog',
  description: 'Products, categories, discounts.',
  basePaths: ['/api/products', '/api/categories', '/api/catalog'],
  switches: {
    categories: {
      description: 'Categories of products: their lists and their administration.',
      basePaths: ['/api/categories', '/api/catalog/categories']
    }
  },
  settings: catalogSettings,
  requires: {},
  uses: { pricing: pricingModule, inventory: inventoryModule },
  hears: [stockCrossed, pricesChanged],
  emits: [productChanged, catalogChanged],
  jobs: [refreshListPrices, repriceProducts, applyDuePrices, checkPrices],
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: 'What is sold is nobody’s.',
  setup: async (
    { config, db, cache, broadcast, chores, emit, enqueue, metrics },
    settings,
    { pricing, inventory }
  ) => {
    const { currency } = config.shop
    const listPrices = createListPrices({ pricing, enqueue, currency })
    const lowestPrices = createLowestPrices({ db, enqueue, currency, listPrices })
    const changes = createChanges({ broadcast, emit, lowestPrices })
    const pages = createPages({
      db,
      cache,
      changes,
      lowestPrices,
      ttlSeconds: settings.page_cache_seconds
    })
    const entries = createEntries({ db, changes, currency, bytesMax: settings.offers_bytes_max })
    const offers = createOffers({ entries, pricing, currency })
    const exportCsv = createExporter({ db, inventory, currency })
    const importCsv = timed(
      createImporter({ db, changes, inventory, currency }),
      metrics.histogram(
        'import_seconds',
        'Duration of imports, by mode.',
        { mode: ['best_effort', 'all_or_nothing'] },
        IMPORT_SECONDS_BOUNDS
      )
    )
    // Half of the connections for slow statements at most: one caller's lists leave room for those of others.
    const listsAtOnceMax = Math.ceil(config.database.slow_connections / 2)
    const ratings = createRatingsOfPages()
    const storefront = createStorefront({
      db,
      pages,
      inventory,
      listPrices,
      ratings,
      currency,
      listsAtOnceMax
    })
    const products = createProductService({ db, changes, inventory, currency })
    const variants = createVariantService({ db, changes, inventory, currency })
    const categories = createCategoryService({ db, changes })
    const discounts = createDiscountService({ db, changes, currency })
    forgetGoneVariants(chores, db)
    if (inventory !== undefined)
      chores.every(REFRESH_STOCK_SECONDS, 'bring what lists say of stock up to date', () =>
        refreshStock({ db, changes, inventory })
      )

    const api: CatalogApi = {
      offers,
      quote: createQuote({ listPrices, currency }),
      names: variants.names,
      requireVariant: variants.require,
      requireProduct: storefront.requireProduct,
      askReviews: ratings.askReviews,
      importCsv,
      exportCsv,
      isEmpty: products.isEmpty,
      findOtherCurrency: products.findOtherCurrency,
      someOffers: async limit => {
        const variantIds = await products.listVariantIdsForSale(limit)
        const wanted = variantIds.map(variantId => ({ variantId, quantity: 1 }))
        const found = await offers(wanted, null)
        return found.filter(offer => offer !== undefined)
      }
    }
    const routes = (tiers: Tiers) => {
      storefrontRoutes(tiers, storefront, marketsOfRequests(pricing))
      productRoutes(tiers, products)
      variantRoutes(tiers, variants)
      categoryRoutes(tiers, categories)
      discountRoutes(tiers, discounts)
      importRoutes(tiers, importCsv)
      exportRoutes(tiers, exportCsv)
    }
    const consumers = {
      // Without an inventory nobody counts; what is left of the time with one is made good when it is back.
      'inventory.crossed': async (tx: Transaction, events: readonly Delivery<Crossed>[]) => {
        const variantIds = events.flatMap(({ payload }) => payload.variant_ids)
        if (inventory !== undefined) await keepInStock(tx, variantIds, { inventory, changes })
      },
      'pricing.prices_changed': async (tx: Transaction, events: readonly Delivery<PricesChanged>[]) => {
        if (pricing !== undefined) await followPrices(tx, events, { pricing, listPrices, changes, enqueue })
      }
    }
    const handlers = {
      'catalog.reprice_products': async ({ payload }: Delivery<Reprice>, signal: AbortSignal) => {
        await lowestPrices.repriceAll({ categoryId: payload.category_id, signal })
      },
      'catalog.apply_due_prices': lowestPrices.repriceChanged,
      'catalog.check_prices': async (_: Delivery, signal: AbortSignal) => {
        await lowestPrices.repriceAll({ isSlow: true, signal })
      },
      'catalog.refresh_list_prices': async ({ payload }: Delivery<Refresh>, signal: AbortSignal) => {
        if (pricing !== undefined)
          await refreshAll({ db, changes, listPrices, pricing }, payload.list_id, signal)
      }
    }
    return { api, routes, consumers, handlers }
  }
})

type Durations = { observe(labels: { mode: 'best_effort' | 'all_or_nothing' }, seconds: number): void }

const timed =
  (importCsv: ImportCsv, durations: Durations): ImportCsv =>
  async (file, options, progress) => {
    const startedAt = performance.now()
    try {
      return await importCsv(file, options, progress)
    } finally {
      const { mode = 'best_effort' } = options ?? {}
      durations.observe({ mode }, (performance.now() - startedAt) / 1_000)
    }
  }
