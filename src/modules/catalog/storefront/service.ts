import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { pageOf } from '../../../kernel/pages.ts'
import type { Queryable } from '../../../platform/postgres.ts'
import * as categories from '../categories/repository.ts'
import { treeOf } from '../categories/tree.ts'
import { fingerprintOf, isId, readCursor } from '../cursor.ts'
import { type Discount, priceNow } from '../discounts/pricing.ts'
import { categoryNotFound, productNotFound } from '../errors.ts'
import { containing } from '../products/slug.ts'
import type { Pages } from '../revision/pages.ts'
import * as repository from './repository.ts'
import type { CategoryDetail, Product, ProductQuery, ProductSummary, Sort, Variant } from './schema.ts'

type Deps = { db: Queryable; pages: Pages; currency: string }

/** What visitors see of the catalog, each page as JSON text, because that is how it is cached. */
export function createStorefront({ db, pages, currency }: Deps) {
  /** @throws `INVALID_CURSOR` */
  function listProducts(query: ProductQuery): Promise<string> {
    const { sort = 'newest', limit = 20, cursor, count = false } = query
    const filters = filtersOf(query)
    const fingerprint = fingerprintOf([sort, filters])
    const after =
      cursor === undefined
        ? undefined
        : readCursor(cursor, fingerprint, sort === 'name' ? 'string' : 'number')
    // Kept are the pages that many visitors ask for: where a catalog is entered. Searches, price ranges and what lies
    // further on have no end of variations, and would only push those out.
    const isEntrance = cursor === undefined && filters.text === undefined && filters.price === undefined
    const key = isEntrance
      ? `products:${JSON.stringify([sort, limit, count, query.category, query.tag])}`
      : null
    return pages(key, async () => {
      const [rows, total] = await Promise.all([
        repository.list(db, sort, filters, after, limit + 1),
        count ? repository.count(db, filters) : undefined
      ])
      const prices = await repository.prices(
        db,
        rows.map(row => row.id),
        currency
      )
      const variants = Map.groupBy(prices, row => row.product_id)
      const page = pageOf(
        rows,
        limit,
        row => [fingerprint, sortKey(row, sort), row.id],
        row => summary(row, variants.get(row.id) ?? [], currency)
      )
      return JSON.stringify({ ...page, total })
    })
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND` unless it exists and is active */
  const readProduct = (idOrSlug: string): Promise<string> =>
    pages(`product:${idOrSlug}`, async () => {
      const row = await repository.find(db, keyOf(idOrSlug), currency)
      if (row === undefined) throw productNotFound()
      return JSON.stringify(product(row, currency))
    })

  const listCategories = (): Promise<string> =>
    pages('categories', async () => JSON.stringify({ items: treeOf(await categories.list(db)) }))

  /** @throws `CATALOG_CATEGORY_NOT_FOUND` */
  const readCategory = (idOrSlug: string): Promise<string> =>
    pages(`category:${idOrSlug}`, async () => {
      const [found, all] = await Promise.all([categories.find(db, keyOf(idOrSlug)), categories.list(db)])
      if (found === undefined) throw categoryNotFound()
      const { path, ...category } = found
      const ancestors = path
        .slice(0, -1)
        .flatMap(id => all.filter(each => each.id === id))
        .map(({ id, slug, name }) => ({ id, slug, name }))
      const children = all.filter(each => each.parent_id === found.id)
      return JSON.stringify({ ...category, ancestors, children } satisfies CategoryDetail)
    })

  return { listProducts, readProduct, listCategories, readCategory }
}
export type Storefront = ReturnType<typeof createStorefront>

const keyOf = (idOrSlug: string) => ({ slug: idOrSlug, ...(isId(idOrSlug) && { id: idOrSlug }) })

function filtersOf({ category, tag, q, min_price, max_price, sort }: ProductQuery): repository.Filters {
  const filters: repository.Filters = {}
  if (category !== undefined) filters.category = [isId(category) ? category : null, category]
  if (tag !== undefined) filters.tag = [tag]
  if (q !== undefined) filters.text = [containing(q)]
  // What has no price has no place among prices.
  const isAboutPrices = sort === 'price' || sort === '-price'
  if (isAboutPrices || min_price !== undefined || max_price !== undefined)
    filters.price = [min_price ?? 0, max_price ?? AMOUNT_MAX]
  return filters
}

function sortKey(row: repository.SummaryRow, sort: Sort): string | number {
  if (sort === 'name') return row.search_text
  return sort === 'newest' ? 0 : (row.lowest_price_minor ?? 0)
}

function summary(
  { id, slug, name, brand, image_url, tags, created_at }: repository.SummaryRow,
  variants: readonly repository.PriceRow[],
  currency: string
): ProductSummary {
  const prices = variants.map(({ price_minor, sale_price_minor, discounts }) => ({
    price: price_minor,
    discounted: priceNow(price_minor, sale_price_minor, (discounts ?? []) as Discount[]).discountedPrice
  }))
  const [cheapest] = prices.sort((a, b) => a.discounted - b.discounted || a.price - b.price)
  return {
    id,
    slug,
    name,
    brand,
    image_url,
    price: cheapest?.price ?? null,
    discounted_price: cheapest?.discounted ?? null,
    currency,
    variant_count: variants.length,
    tags,
    created_at: created_at.toISOString()
  }
}

type StoredVariant = Omit<Variant, 'price' | 'discounted_price' | 'currency' | 'stock'> & {
  price_minor: number
  sale_price_minor: number | null
  discounts: Discount[] | null
}

function product(row: repository.ProductPage, currency: string): Product {
  const images = row.images as { url: string; alt: string | null }[]
  const variants = (row.variants ?? []) as StoredVariant[]
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    brand: row.brand,
    currency,
    tags: row.tags,
    options: row.options as Product['options'],
    images: images.map((image, index) => ({ ...image, position: index + 1 })),
    categories: (row.categories ?? []) as Product['categories'],
    variants: variants.map(variant => presentVariant(variant, currency)),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString()
  }
}

const presentVariant = (variant: StoredVariant, currency: string): Variant => ({
  id: variant.id,
  sku: variant.sku,
  name: variant.name,
  price: variant.price_minor,
  discounted_price: priceNow(variant.price_minor, variant.sale_price_minor, variant.discounts ?? [])
    .discountedPrice,
  currency,
  attributes: variant.attributes,
  image_url: variant.image_url,
  stock: null,
  weight_grams: variant.weight_grams,
  barcode: variant.barcode
})
