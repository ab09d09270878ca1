import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule, provideField } from '../../module.ts'
import { createMetadataCommand, type MetadataCommands } from '../../platform/metadata-command.ts'
import type { Queryable } from '../../platform/postgres/database.ts'
import { inventoryModule, stockCrossedEvent } from '../inventory/index.ts'
import {
  createRequestMarketResolver,
  type Market,
  pricesChangedEvent,
  pricingModule
} from '../pricing/index.ts'
import { categoryRoutes } from './categories/routes.ts'
import { categoryResource } from './categories/schema.ts'
import { createCategoryService } from './categories/service.ts'
import { discountRoutes } from './discounts/routes.ts'
import { createCatalogDiscountService } from './discounts/service.ts'
import { catalogChangedEvent, productChangedEvent } from './events.ts'
import { productExportRoutes } from './export/routes.ts'
import { createProductExporter, type ExportProductsCsv } from './export/service.ts'
import { productImportRoutes } from './import/routes.ts'
import { createProductImporter, type ImportProductsCsv } from './import/service.ts'
import { withImportDurationMetric } from './import/timing.ts'
import { refreshLowestListPricesJob } from './list-prices/jobs.ts'
import { createProductPricesInPriceLists } from './list-prices/service.ts'
import { createMarketOfferReader } from './offers/markets.ts'
import { createVariantQuoter, type QuotedVariant } from './offers/quote.ts'
import { createVariantOfferCache, type Offer, type VariantQuantity } from './offers/service.ts'
import { productResource } from './products/fields.ts'
import { productRoutes } from './products/routes.ts'
import { createProductService } from './products/service.ts'
import { createCatalogChangePublisher } from './revision/changes.ts'
import { applyDuePriceChangesJob, repairLowestPricesJob, repriceManyProductsJob } from './revision/jobs.ts'
import { createCheapestVariantPriceService } from './revision/lowest-prices.ts'
import { createCatalogPageCache } from './revision/page-cache.ts'
import { createCatalogHandlers } from './set-up-handlers.ts'
import { catalogSettings } from './settings.ts'
import { stockField } from './stock/field.ts'
import { refreshAllStockStatuses } from './stock/refresh.ts'
import { createPageFields } from './storefront/page-fields.ts'
import { catalogStorefrontRoutes } from './storefront/routes.ts'
import { createCatalogStorefrontService } from './storefront/service.ts'
import { variantRoutes } from './variants/routes.ts'
import { variantResource } from './variants/schema.ts'
import { createVariantService, startOldVariantNameCleanup, type VariantOfSku } from './variants/service.ts'

export { categoryResource } from './categories/schema.ts'
export { catalogChangedEvent, productChangedEvent } from './events.ts'
export type { ProductImportReport as ImportReport } from './import/report.ts'
export type { ProductImportProgress as ImportProgress } from './import/service.ts'
export type { QuotedVariant } from './offers/quote.ts'
export type { Offer } from './offers/service.ts'
export { productResource } from './products/fields.ts'
export { variantResource } from './variants/schema.ts'
export type { VariantOfSku } from './variants/service.ts'

const REFRESH_STOCK_SECONDS = 3_600

const IMPORT_SECONDS_BOUNDS = [0.1, 0.5, 1, 5, 10, 30, 60, 300]

/** The API of the catalog for other modules. */
export type CatalogApi = {
  /**
   * Changes the metadata of products and emits `catalog.product_changed`.
   * @throws `CATALOG_PRODUCT_NOT_FOUND`, `METADATA_LIMIT`, `METADATA_INVALID`
   * @example
   * const [variant] = await catalog.quote(db, [{ variantId, quantity: 1 }], null)
   * const change = { metadata: { season: 'autumn' }, private_metadata: { supplier: 'Engines AB' } }
   * const updated = await catalog.products.updateMetadata(variant?.productId ?? '', change, newWrite())
   * assert.deepEqual(updated.private_metadata, { supplier: 'Engines AB' })
   */
  readonly products: MetadataCommands
  /**
   * Changes the metadata of variants and emits `catalog.product_changed`. Locks the product of the variant.
   * The version in the result is that of the product.
   * @throws `CATALOG_VARIANT_NOT_FOUND`, `METADATA_LIMIT`, `METADATA_INVALID`
   * @example
   * const change = { private_metadata: { bin: 'A7' } }
   * const { private_metadata } = await catalog.variants.updateMetadata(variantId, change, newWrite())
   * assert.deepEqual(private_metadata, { bin: 'A7' })
   */
  readonly variants: MetadataCommands
  /**
   * Changes the metadata of categories and emits `catalog.changed`. Locks the tree of categories.
   * @throws `CATALOG_CATEGORY_NOT_FOUND`, `METADATA_LIMIT`, `METADATA_INVALID`
   * @example
   * const change = { metadata: { banner: 'autumn' } }
   * const { metadata } = await catalog.categories.updateMetadata(categoryId, change, newWrite())
   * assert.deepEqual(metadata, { banner: 'autumn' })
   */
  readonly categories: MetadataCommands
  /**
   * Returns the offers of these variants in a market, in their order. A null market: the currency of the
   * shop, in a shop without markets. `undefined`: the variant does not exist or is not for sale. Offers are
   * cached in memory; one statement reads all that are missing. Takes no lock.
   * @example
   * const [offer] = await catalog.offers([{ variantId, quantity: 1 }], null)
   * assert.equal(offer?.price, 1_000)
   */
  offers(wanted: readonly VariantQuantity[], market: Market | null): Promise<(Offer | undefined)[]>
  /**
   * Returns variants with their price and everything that an order stores of them, in their order. Quantities of
   * one variant are added up, because price breaks apply to the sum of its lines. Reads the database, within the
   * transaction if `db` is one, and no cache. `undefined`: the variant does not exist; check `isActive` for sale.
   * One statement for all variants, and two more in a market with a price list. Takes no lock.
   * @example
   * const [variant] = await catalog.quote(db, [{ variantId, quantity: 1 }], null)
   * assert.deepEqual([variant?.sku, variant?.isActive], [sku, true])
   */
  quote(
    db: Queryable,
    wanted: readonly VariantQuantity[],
    market: Market | null
  ): Promise<(QuotedVariant | undefined)[]>
  /**
   * Returns the variants with these SKUs, in their order, for sale or not. `undefined`: no variant has the SKU. SKUs are
   * compared exactly. Takes no lock and reads no cache. One statement.
   * @example
   * const [variant, none] = await catalog.findBySku([sku, 'NO-SUCH-SKU'])
   * assert.deepEqual([variant?.variantId, none], [variantId, undefined])
   */
  findBySku(skus: readonly string[]): Promise<(VariantOfSku | undefined)[]>
  /**
   * Returns the names of these variants, in their order, also of deleted ones. Null: the name is unknown.
   * Takes no lock. One statement.
   * @example
   * assert.deepEqual(await catalog.names([variantId, newId()]), ['Mug', null])
   */
  names(variantIds: readonly string[]): Promise<(string | null)[]>
  /**
   * Takes no lock. One statement.
   * @throws `CATALOG_VARIANT_NOT_FOUND` unless the variant exists, for sale or not.
   * @example
   * await catalog.requireVariant(variantId)
   * await assert.rejects(catalog.requireVariant(newId()), { code: 'CATALOG_VARIANT_NOT_FOUND' })
   */
  requireVariant(variantId: string): Promise<void>
  /**
   * Returns the id of an active product by its id or slug. Takes no lock. One statement.
   * @throws `CATALOG_PRODUCT_NOT_FOUND`
   * @example
   * const [variant] = await catalog.quote(db, [{ variantId, quantity: 1 }], null)
   * assert.equal(await catalog.requireProduct(variant?.slug ?? ''), variant?.productId)
   */
  requireProduct(idOrSlug: string): Promise<string>
  /**
   * Imports products from a CSV file in Shopify's export format. `mode` defaults to `best_effort`. Locks the
   * products of a batch until its commit.
   * @throws `CATALOG_IMPORT_FAILED` with the report in its details; nothing was changed then.
   * @example
   * const rows = ['Handle,Title,Variant SKU,Variant Price', 'cup,Cup,CUP,5.00']
   * const { products } = await catalog.importCsv(Readable.from(rows.join('\n')))
   * assert.equal(products.created, 1)
   */
  importCsv: ImportProductsCsv
  /**
   * Exports all products as a CSV file that `importCsv` reads. Skips products that the format cannot
   * express. Reads a page at a time, without a lock.
   * @example
   * const chunks = await catalog.exportCsv().toArray()
   * assert.match(chunks.join(''), new RegExp(sku))
   */
  exportCsv: ExportProductsCsv
  /**
   * Whether the catalog has no product. Takes no lock. One statement.
   * @example
   * assert.equal(await catalog.isEmpty(), false)
   */
  isEmpty(): Promise<boolean>
  /**
   * Returns the currency of a variant when no variant has the currency of the shop, so that nothing can be
   * sold. Takes no lock. One statement.
   * @example
   * assert.equal(await catalog.findOtherCurrency(), undefined)
   */
  findOtherCurrency(): Promise<string | undefined>
  /**
   * Returns up to `limit` offers, those with a sale price first, as examples of what can be bought. Takes no
   * lock.
   * @example
   * const [offer] = await catalog.someOffers(1)
   * assert.equal(offer?.variantId, variantId)
   */
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
  subscribes: [stockCrossedEvent, pricesChangedEvent],
  emits: [productChangedEvent, catalogChangedEvent],
  jobs: [refreshLowestListPricesJob, repriceManyProductsJob, applyDuePriceChangesJob, repairLowestPricesJob],
  extends: [stockField],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: 'Products belong to no customer.',
  setup: async (
    { config, db, cache, broadcast, timers, emit, enqueue, metrics, fieldsOf },
    settings,
    { pricing, inventory }
  ) => {
    const { currency } = config.shop
    const listPrices = createProductPricesInPriceLists({ pricing, enqueue, currency })
    const lowestPrices = createCheapestVariantPriceService({ db, enqueue, emit, currency, listPrices })
    const changes = createCatalogChangePublisher({ broadcast, emit, lowestPrices })
    const pages = createCatalogPageCache({
      db,
      cache,
      changes,
      lowestPrices,
      ttlSeconds: settings.page_cache_seconds
    })
    const entries = createVariantOfferCache({ db, changes, currency, bytesMax: settings.offers_bytes_max })
    const offers = createMarketOfferReader({ entries, pricing, currency })
    const exportCsv = createProductExporter({ db, inventory, currency })
    const importCsv = withImportDurationMetric(
      createProductImporter({ db, changes, inventory, currency }),
      metrics.histogram(
        'import_seconds',
        'Duration of imports, by mode.',
        { mode: ['best_effort', 'all_or_nothing'] },
        IMPORT_SECONDS_BOUNDS
      )
    )
    // One caller's lists use at most half of the connections for slow statements, so that others are not
    // blocked.
    const concurrentListsMax = Math.ceil(config.database.slow_connections / 2)
    const storefront = createCatalogStorefrontService({
      db,
      pages,
      hasInventory: inventory !== undefined,
      listPrices,
      productFields: createPageFields(fieldsOf, [productResource, variantResource]),
      categoryFields: createPageFields(fieldsOf, [categoryResource]),
      currency,
      concurrentListsMax,
      isMarketCurrent: market => pricing?.markets.isCurrent(market) ?? false
    })
    const products = createProductService({ db, changes, inventory, currency })
    const variants = createVariantService({ db, changes, inventory, currency })
    const categories = createCategoryService({ db, changes })
    const discounts = createCatalogDiscountService({ db, changes, currency })
    startOldVariantNameCleanup(timers, db)
    if (inventory !== undefined)
      timers.every(REFRESH_STOCK_SECONDS, 'refresh the stock status of products', () =>
        refreshAllStockStatuses({ db, changes, inventory })
      )

    const api: CatalogApi = {
      offers,
      quote: createVariantQuoter({ listPrices, currency }),
      findBySku: variants.findBySku,
      names: variants.names,
      requireVariant: variants.require,
      requireProduct: storefront.requireProduct,
      products: { updateMetadata: createMetadataCommand(products.patch) },
      variants: { updateMetadata: createMetadataCommand(variants.patch) },
      categories: { updateMetadata: createMetadataCommand(categories.patch) },
      importCsv,
      exportCsv,
      isEmpty: products.isEmpty,
      findOtherCurrency: products.findOtherCurrency,
      someOffers: async limit => {
        const variantIds = await products.listVariantIdsForSale(limit)
        const wanted = variantIds.map(variantId => ({ variantId, quantity: 1 }))
        return (await offers(wanted, null)).filter(offer => offer !== undefined)
      }
    }
    const routes = (tiers: Tiers) => {
      catalogStorefrontRoutes(
        tiers,
        storefront,
        createRequestMarketResolver(pricing),
        settings.shared_cache_seconds
      )
      productRoutes(tiers, products)
      variantRoutes(tiers, variants)
      categoryRoutes(tiers, categories)
      discountRoutes(tiers, discounts)
      productImportRoutes(tiers, importCsv)
      productExportRoutes(tiers, exportCsv)
    }
    const shared = { db, changes, enqueue, listPrices, lowestPrices }
    const handlers = createCatalogHandlers({ ...shared, inventory, pricing })
    const stock = inventory && { load: inventory.available, loadCached: inventory.availableCached }
    const fields = stock === undefined ? [] : [provideField(stockField, stock)]
    return { api, routes, fields, ...handlers }
  }
})
