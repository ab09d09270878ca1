import { found } from '../../../kernel/errors.ts'
import { isId } from '../../../kernel/ids.ts'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { noPage, readPage } from '../../../kernel/pages.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { Market } from '../../pricing/index.ts'
import * as categories from '../categories/repository.ts'
import { treeOf } from '../categories/tree.ts'
import { priceable, priceIn } from '../discounts/pricing.ts'
import { categoryNotFound, productNotFound } from '../errors.ts'
import { type ListPrices, leastOf } from '../list-prices/service.ts'
import { hasOwnPrices } from '../offers/markets.ts'
import { patternsOf } from '../products/search.ts'
import { storedSlug } from '../products/slug.ts'
import type { Pages } from '../revision/pages.ts'
import { createCallerLimit } from './caller-limit.ts'
import type { RatingsOfPages } from './ratings.ts'
import {
  beforeFirst,
  findProduct,
  findProductId,
  type ListFilters,
  ownPrices,
  type ProductPageRow,
  listPrices as pricesOfLists,
  type StoredVariant,
  type SummaryRow
} from './repository.ts'
import type {
  CategoryDetailResponse,
  ProductQuery,
  ProductResponse,
  ProductSummaryResponse,
  Sort,
  VariantResponse
} from './schema.ts'
import { createStockOfPages } from './stock.ts'

type Deps = {
  db: Queryable
  pages: Pages
  /** Absent: nobody counts. */
  inventory: Pick<InventoryApi, 'available'> | undefined
  listPrices: Pick<ListPrices, 'pricesIn'>
  ratings: Pick<RatingsOfPages, 'inPage' | 'inList'>
  currency: string
  listsAtOnceMax: number
}

/** What visitors see of the catalog, each page as JSON text, because that is how it is cached. */
export function createStorefront({ db, pages, inventory, listPrices, ratings, ...rest }: Deps) {
  const { currency, listsAtOnceMax } = rest
  const limited = createCallerLimit(listsAtOnceMax)
  const withStock = createStockOfPages(inventory)

  const categoryOf = (idOrSlug: string) => db.first(categories.findCategoryByIdOrSlug, keyOf(idOrSlug))

  /**
   * `caller` says whose line this is when lists have to wait: a network.
   * @throws `INVALID_CURSOR`, `CATALOG_LIST_LIMIT`
   */
  async function listProducts(query: ProductQuery, market: Market | null, caller: string): Promise<string> {
    const { sort = 'newest', limit = 20, cursor, count = false, q, category, tag, in_stock } = query
    const prices = priceRange(query)
    // Kept are the pages that many visitors ask for: where a catalog is entered. Searches, price ranges and what lies
    // further on have no end of variations, and would only push those out.
    const isEntrance = cursor === undefined && q === undefined && !asksForPrices(query)
    const key = isEntrance
      ? `products:${JSON.stringify([termsOf(market), sort, limit, count, category, tag, in_stock])}`
      : null
    const make = async () => {
      const inside = category === undefined ? null : await categoryOf(category)
      // Where nobody counts, everything is in stock, whatever was counted before.
      const patterns = q === undefined ? null : patternsOf(q)
      const isEmpty =
        inside === undefined || patterns?.length === 0 || (inventory === undefined && in_stock === false)
      if (isEmpty) return JSON.stringify(noPage<ProductSummaryResponse>({ count }))
      const filters = {
        q: patterns,
        tag: tag ?? null,
        category: inside?.id ?? null,
        in_stock: inventory === undefined ? null : (in_stock ?? null),
        ...prices
      }
      const page = await readPage(query, {
        name: 'listed products',
        filters: [market?.code, sort, q, category, tag, prices, in_stock],
        start: beforeFirst[sort],
        ...statementsOf(market, sort, filters),
        placeOf: row => ({ key: sortKey(row, sort), id: row.id })
      })
      const shown = market?.currency ?? currency
      const items = page.items.map(row => summary(row, shown, inventory !== undefined))
      return JSON.stringify({ ...page, items })
    }
    return ratings.inList(await pages(key, make, work => limited(caller, work)), isEntrance)
  }

  /** A list of products in a market: its rows, and how many there are. */
  function statementsOf(market: Market | null, sort: Sort, filters: ListFilters) {
    if (market === null || hasOwnPrices(market, currency))
      return {
        rows: (place: Place) => db.rows(ownPrices[sort], { ...place, ...filters }),
        total: () => db.first(ownPrices.count, filters)
      }
    const inList = { ...filters, list: market.priceListId }
    return {
      rows: (place: Place) => db.rows(pricesOfLists[sort], { ...place, ...inList }),
      total: () => db.first(pricesOfLists.count, inList)
    }
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND` unless it exists and is active */
  async function readProduct(idOrSlug: string, market: Market | null): Promise<string> {
    const key = `product:${JSON.stringify([termsOf(market), idOrSlug])}`
    const page = await pages(key, async () => {
      const row = await db.first(findProduct, { ...keyOf(idOrSlug), currency })
      if (row === undefined) throw productNotFound()
      const variants = row.variants ?? []
      const shown = market?.currency ?? currency
      const listed = await listPrices.pricesIn(db, market, variants.map(leastOf))
      const prices = variants.map((variant, index) =>
        priceIn(priceable(variant, currency), listed[index], shown)
      )
      return JSON.stringify(product(row, shown, prices))
    })
    // Ratings change less often, so most pages are cut for the stock but once.
    return withStock(await ratings.inPage(page))
  }

  /** See `CatalogApi.requireProduct`. */
  const requireProduct = async (idOrSlug: string): Promise<string> =>
    found(await db.first(findProductId, keyOf(idOrSlug)), productNotFound).id

  const listCategories = (): Promise<string> =>
    pages('categories', async () =>
      JSON.stringify({ items: treeOf(await db.rows(categories.listCategories)) })
    )

  /** @throws `CATALOG_CATEGORY_NOT_FOUND` */
  const readCategory = (idOrSlug: string): Promise<string> =>
    pages(`category:${idOrSlug}`, async () => {
      const [found, all] = await Promise.all([categoryOf(idOrSlug), db.rows(categories.listCategories)])
      if (found === undefined) throw categoryNotFound()
      const { path, ...category } = found
      const ancestors = path
        .slice(0, -1)
        .flatMap(id => all.filter(each => each.id === id))
        .map(({ id, slug, name }) => ({ id, slug, name }))
      const children = all.filter(each => each.parent_id === found.id)
      return JSON.stringify({ ...category, ancestors, children } satisfies CategoryDetailResponse)
    })

  return { listProducts, readProduct, requireProduct, listCategories, readCategory }
}
export type Storefront = ReturnType<typeof createStorefront>

/** Where a page of a list starts, and how long it is. */
type Place = { key: string | number; id: string; limit: number }

/** What pages of a market have in common, and no other's: the cursors that lists give out, and the prices. */
const termsOf = (market: Market | null) => market && [market.code, market.currency, market.priceListId]

const keyOf = (idOrSlug: string) => ({ id: isId(idOrSlug) ? idOrSlug : null, slug: storedSlug(idOrSlug) })

const asksForPrices = ({ min_price, max_price, sort }: ProductQuery): boolean =>
  min_price !== undefined || max_price !== undefined || sort === 'price' || sort === '-price'

/** What has no price has no place among prices. */
const priceRange = (query: ProductQuery) =>
  asksForPrices(query)
    ? { price_min: query.min_price ?? 0, price_max: query.max_price ?? AMOUNT_MAX }
    : { price_min: null, price_max: null }

function sortKey(row: SummaryRow, sort: Sort): string | number {
  if (sort === 'name') return row.search_text
  return sort === 'newest' ? 0 : (row.lowest_price_minor ?? 0)
}

/** What was found in another currency is no price here, until the products are priced in this one. */
function summary(row: SummaryRow, currency: string, isCounted: boolean): ProductSummaryResponse {
  const isPriced = row.lowest_price_currency === currency
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    brand: row.brand,
    image_url: row.image_url,
    price: isPriced ? row.lowest_full_price_minor : null,
    discounted_price: isPriced ? row.lowest_price_minor : null,
    currency,
    variant_count: isPriced ? (row.variant_count ?? 0) : 0,
    in_stock: !isCounted || row.in_stock,
    tags: row.tags,
    rating: null,
    created_at: row.created_at
  }
}

/** `prices`: of its variants, in their order; one without is not sold in this market. */
function product(
  row: ProductPageRow,
  currency: string,
  prices: readonly (Price | undefined)[]
): ProductResponse {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    brand: row.brand,
    currency,
    tags: row.tags,
    options: row.options,
    images: row.images.map((image, index) => ({ ...image, position: index + 1 })),
    categories: row.categories ?? [],
    variants: (row.variants ?? []).flatMap((variant, index) => {
      const price = prices[index]
      return price === undefined ? [] : [presentVariant(variant, currency, price)]
    }),
    rating: null,
    created_at: row.created_at,
    updated_at: row.updated_at
  }
}

type Price = { price: number; discountedPrice: number }
const presentVariant = (
  variant: StoredVariant,
  currency: string,
  { price, discountedPrice }: Price
): VariantResponse => ({
  id: variant.id,
  sku: variant.sku,
  name: variant.name,
  price,
  discounted_price: discountedPrice,
  currency,
  attributes: variant.attributes,
  image_url: variant.image_url,
  // Filled in for every answer, as ratings are: it changes far too often to be kept with the rest.
  stock: null,
  weight_grams: variant.weight_grams,
  barcode: variant.barcode,
  quantity_min: variant.quantity_min,
  quantity_max: variant.quantity_max,
  quantity_step: variant.quantity_step
})
