import { found } from '../../../kernel/errors.ts'
import { isId } from '../../../kernel/ids.ts'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { emptyPage, readPage } from '../../../kernel/pages.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Market } from '../../pricing/index.ts'
import * as categories from '../categories/repository.ts'
import { categoryResource } from '../categories/schema.ts'
import { categoryTreeOf } from '../categories/service.ts'
import { variantPriceInCurrency, variantPriceInputsOf } from '../discounts/pricing.ts'
import { categoryNotFoundError, productNotFoundError } from '../errors.ts'
import { type ProductPricesInPriceLists, variantIdWithMinimumQuantity } from '../list-prices/service.ts'
import { isMarketPricedByCatalog } from '../offers/markets.ts'
import { productSearchLikePatterns } from '../products/search.ts'
import { normalizeSlug } from '../products/slug.ts'
import { type CatalogPage, type CatalogPageCache, LIST_PREFIX } from '../revision/page-cache.ts'
import { createCallerConcurrencyLimit } from './caller-limit.ts'
import type { PageFields } from './page-fields.ts'
import { presentProduct, presentSummary } from './presented-products.ts'
import {
  findActiveProductByIdOrSlug,
  findActiveProductId,
  type ProductListFilters,
  type ProductSummaryRow,
  positionsBeforeFirstProduct,
  productQueriesAtCatalogPrices,
  productQueriesAtListPrices
} from './repository.ts'
import type {
  CategoryDetailResponse,
  ProductListQuery,
  ProductSort,
  ProductSummaryResponse
} from './schema.ts'

type Deps = {
  db: Queryable
  pages: CatalogPageCache
  /** Whether the shop has an inventory. Otherwise every variant is in stock. */
  hasInventory: boolean
  listPrices: Pick<ProductPricesInPriceLists, 'pricesIn'>
  /** The fields that other modules add to products and variants, and to categories. */
  productFields: PageFields
  categoryFields: PageFields
  currency: string
  concurrentListsMax: number
  /** Whether a market is still the same, from memory. */
  isMarketCurrent: (market: Market) => boolean
}

/** The public pages of the catalog, as JSON text, because they are cached as text. */
export function createCatalogStorefrontService({ db, pages, hasInventory, listPrices, ...rest }: Deps) {
  const { productFields, categoryFields, currency, concurrentListsMax: listsAtOnceMax } = rest
  const { isMarketCurrent } = rest
  const limited = createCallerConcurrencyLimit(listsAtOnceMax)

  const categoryOf = (idOrSlug: string) => db.first(categories.findCategoryByIdOrSlug, idOrSlugKey(idOrSlug))

  /**
   * Lists products. `caller`: the network address by which concurrent lists are limited.
   * @throws `INVALID_CURSOR`, `CATALOG_LIST_LIMIT`
   */
  async function listProducts(
    query: ProductListQuery,
    market: Market | null,
    caller: string
  ): Promise<CatalogPage> {
    const { sort = 'newest', limit = 20, cursor, count = false, q, category, tag, in_stock } = query
    const prices = priceRange(query)
    // Only lists without search and price filters are cached, because many visitors request them. Others have too many
    // variations and would evict these.
    const isCached = q === undefined && !usesPrices(query)
    const key = isCached
      ? `${LIST_PREFIX}${productFields.cacheKey()}:${JSON.stringify([marketKey(market), sort, limit, count, category, tag, in_stock])}`
      : null
    const make = async () => {
      const inside = category === undefined ? null : await categoryOf(category)
      // Without an inventory everything is in stock, even if `in_stock` was set before.
      const patterns = q === undefined ? null : productSearchLikePatterns(q)
      const isEmpty = inside === undefined || patterns?.length === 0 || (!hasInventory && in_stock === false)
      if (isEmpty) return JSON.stringify(emptyPage<ProductSummaryResponse>({ count }))
      const filters = {
        tag: tag ?? null,
        category: inside?.id ?? null,
        in_stock: hasInventory ? (in_stock ?? null) : null,
        ...prices
      }
      const page = await readPage(query, {
        name: 'listed products',
        filters: [market?.code, sort, q, category, tag, prices, in_stock],
        start: positionsBeforeFirstProduct[sort],
        ...statementsOf(market, sort, patterns, filters),
        placeOf: row => ({ key: sortKey(row, sort), id: row.id })
      })
      const shown = market?.currency ?? currency
      const items = page.items.map(row => presentSummary(row, shown, hasInventory, productFields))
      return JSON.stringify({ ...page, items })
    }
    const page = await pages({ key, cursor, make, limited: work => limited(caller, work) })
    return productFields.fill(inMarket(page, market))
  }

  /** A page of a market is current as long as the market is. */
  function inMarket(page: CatalogPage, market: Market | null): CatalogPage {
    if (market === null) return page
    const { json, isCurrent, changesInMs } = page
    return {
      json,
      isCurrent: isCurrent && (() => isCurrent() && isMarketCurrent(market)),
      changesInMs: () => (isMarketCurrent(market) ? changesInMs() : 0)
    }
  }

  /**
   * Returns the queries for the rows and the total of a list in a market. `q`: `like` patterns of the
   * searched text.
   */
  function statementsOf(
    market: Market | null,
    sort: ProductSort,
    q: string[] | null,
    filters: ProductListFilters
  ) {
    if (market === null || isMarketPricedByCatalog(market, currency)) {
      const { list, search, count } = productQueriesAtCatalogPrices
      return {
        rows: (place: PageStart) =>
          q === null
            ? db.rows(list[sort], { ...place, ...filters })
            : db.rows(search[sort], { ...place, ...filters, q }),
        total: () => db.first(count, { ...filters, q })
      }
    }
    const { list, search, count } = productQueriesAtListPrices
    const inList = { ...filters, list: market.priceListId }
    return {
      rows: (place: PageStart) =>
        q === null
          ? db.rows(list[sort], { ...place, ...inList })
          : db.rows(search[sort], { ...place, ...inList, q }),
      total: () => db.first(count, { ...inList, q })
    }
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND` unless it exists and is active */
  async function readProduct(idOrSlug: string, market: Market | null): Promise<CatalogPage> {
    const key = `product:${productFields.cacheKey()}:${JSON.stringify([marketKey(market), idOrSlug])}`
    const make = async () => {
      const row = await db.first(findActiveProductByIdOrSlug, { ...idOrSlugKey(idOrSlug), currency })
      if (row === undefined) throw productNotFoundError()
      const variants = row.variants ?? []
      const shown = market?.currency ?? currency
      const listed = await listPrices.pricesIn(db, market, variants.map(variantIdWithMinimumQuantity))
      const prices = variants.map((variant, index) =>
        variantPriceInCurrency(variantPriceInputsOf(variant, currency), listed[index], shown)
      )
      return JSON.stringify(presentProduct(row, shown, prices, productFields))
    }
    return productFields.fill(inMarket(await pages({ key, make }), market))
  }

  /** Implements `CatalogApi.requireProduct`. */
  const requireProduct = async (idOrSlug: string): Promise<string> =>
    found(await db.first(findActiveProductId, idOrSlugKey(idOrSlug)), productNotFoundError).id

  const placesOfCategory = (id: string) => categoryFields.placesOf(categoryResource, id)

  const listCategories = async (): Promise<CatalogPage> =>
    categoryFields.fill(
      await pages({
        key: `categories:${categoryFields.cacheKey()}`,
        make: async () => {
          const rows = await db.rows(categories.listCategories)
          return JSON.stringify({
            items: categoryTreeOf(rows.map(row => ({ ...row, ...placesOfCategory(row.id) })))
          })
        }
      })
    )

  /** @throws `CATALOG_CATEGORY_NOT_FOUND` */
  const readCategory = async (idOrSlug: string): Promise<CatalogPage> =>
    categoryFields.fill(
      await pages({
        key: `category:${categoryFields.cacheKey()}:${idOrSlug}`,
        make: async () => {
          const [found, all] = await Promise.all([categoryOf(idOrSlug), db.rows(categories.listCategories)])
          if (found === undefined) throw categoryNotFoundError()
          const { path, ...category } = found
          const ancestors = path
            .slice(0, -1)
            .flatMap(id => all.filter(each => each.id === id))
            .map(({ id, slug, name }) => ({ id, slug, name }))
          const children = all
            .filter(each => each.parent_id === found.id)
            .map(child => ({ ...child, ...placesOfCategory(child.id) }))
          const fields = placesOfCategory(found.id)
          return JSON.stringify({
            ...category,
            ancestors,
            children,
            ...fields
          } satisfies CategoryDetailResponse)
        }
      })
    )

  return { listProducts, readProduct, requireProduct, listCategories, readCategory }
}
export type CatalogStorefrontService = ReturnType<typeof createCatalogStorefrontService>

/** The start and length of a page of a list. */
type PageStart = { key: string | number; id: string; limit: number }

/** The part of a cache key that separates pages of markets: they have different cursors and prices. */
const marketKey = (market: Market | null) => market && [market.code, market.currency, market.priceListId]

const idOrSlugKey = (idOrSlug: string) => ({
  id: isId(idOrSlug) ? idOrSlug : null,
  slug: normalizeSlug(idOrSlug)
})

const usesPrices = ({ min_price, max_price, sort }: ProductListQuery): boolean =>
  min_price !== undefined || max_price !== undefined || sort === 'price' || sort === '-price'

/** Returns the price filter. Lists that filter or sort by price omit products without a price. */
const priceRange = (query: ProductListQuery) =>
  usesPrices(query)
    ? { price_min: query.min_price ?? 0, price_max: query.max_price ?? AMOUNT_MAX }
    : { price_min: null, price_max: null }

function sortKey(row: ProductSummaryRow, sort: ProductSort): string | number {
  if (sort === 'name') return row.search_text
  return sort === 'newest' ? 0 : (row.lowest_price_minor ?? 0)
}
