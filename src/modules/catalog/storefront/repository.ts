import { HIGHEST_ID, LOWEST_ID } from '../../../kernel/ids.ts'
import type { Metadata } from '../../../kernel/metadata.ts'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import {
  json,
  nullableJson,
  type RowOf,
  type StatementResultRow,
  type StatementValueTypes,
  statement
} from '../../../platform/postgres/statement.ts'
import type { CatalogVariantDiscount } from '../discounts/pricing.ts'
import { productListSql, productMatchesTextSql, productSearchSql } from '../products/list-sql.ts'
import type { ProductResponse, ProductSort, VariantResponse } from './schema.ts'

export type ActiveVariantRow = Omit<VariantResponse, 'price' | 'discounted_price' | 'currency' | 'stock'> & {
  price_minor: number
  sale_price_minor: number | null
  discounts: CatalogVariantDiscount[] | null
}

/** Returns the id of an active product by id or slug. */
export const findActiveProductId = statement({
  name: 'catalog.find_active_product_id',
  takes: { id: 'uuid?', slug: 'text' },
  gives: { id: 'uuid' },
  text: `
    select id from catalog.products
    where (id = $id or slug = $slug) and status = 'active'
    order by id = $id desc nulls last limit 1`
})

/** Returns an active product by id or slug, with its active variants in a currency. */
export const findActiveProductByIdOrSlug = statement({
  name: 'catalog.find_active_product',
  takes: { id: 'uuid?', slug: 'text', currency: 'text' },
  gives: {
    id: 'uuid',
    slug: 'text',
    name: 'text',
    description: 'text',
    brand: 'text?',
    tags: 'text[]',
    options: json<ProductResponse['options']>(),
    images: json<{ url: string; alt: string | null }[]>(),
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    metadata: json<Metadata>(),
    variants: nullableJson<ActiveVariantRow[]>(),
    categories: nullableJson<ProductResponse['categories']>()
  },
  text: `
    select
      id, slug, name, description, brand, tags, options, images, created_at, updated_at, metadata,
      (select jsonb_agg(to_jsonb(shown) order by shown.position, shown.id) from (
         select
           id, sku, name, price_minor, sale_price_minor, attributes, image_url, weight_grams, barcode, position,
           quantity_min, quantity_max, quantity_step, metadata,
           (select jsonb_agg(to_jsonb(discounts))
            from catalog.variant_discounts discounts where discounts.variant_id = variants.id) as discounts
         from catalog.variants
         where variants.product_id = products.id and variants.active and variants.currency = $currency
       ) shown) as variants,
      (select jsonb_agg(to_jsonb(shown) order by shown.name, shown.id) from (
         select categories.id, categories.slug, categories.name
         from catalog.categories
         join catalog.product_categories on product_categories.category_id = categories.id
         where product_categories.product_id = products.id
       ) shown) as categories
    from catalog.products
    where (id = $id or slug = $slug) and status = 'active'
    order by id = $id desc nulls last limit 1`
})
export type ActiveProductRow = RowOf<typeof findActiveProductByIdOrSlug>

const filters = {
  tag: 'text?',
  category: 'uuid?',
  price_min: 'int8?',
  price_max: 'int8?',
  in_stock: 'bool?'
} as const
export type ProductListFilters = StatementResultRow<typeof filters>
const ofProduct = {
  id: 'uuid',
  slug: 'text',
  name: 'text',
  brand: 'text?',
  tags: 'text[]',
  image_url: 'text?',
  created_at: 'timestamptz',
  search_text: 'text',
  lowest_price_minor: 'int8?',
  lowest_price_currency: 'text?',
  lowest_full_price_minor: 'int8?',
  variant_count: 'int4?',
  in_stock: 'bool'
} as const
const SHOWN = `
      id, slug, name, brand, tags, images -> 0 ->> 'url' as image_url, created_at, search_text, lowest_price_minor,
      lowest_price_currency, lowest_full_price_minor, variant_count, in_stock`
/** Where a list of products reads its lowest prices: the products, or a price list. */
type PriceSource<X extends StatementValueTypes> = {
  /** Suffix of the names of its statements. */
  suffix: string
  takes: X
  /** Joins after the table of products. */
  joined: string
  /** The table that has the prices, and the column with the product's id. */
  prices: string
  productId: string
}

/** Creates the queries of lists of active products after a sort key and id. Each order has an index. */
function createListQueries<const X extends StatementValueTypes>({
  suffix,
  takes,
  joined,
  prices,
  productId
}: PriceSource<X>) {
  // Slow statements are planned for their values: filters that are null are removed from the plan, and others
  // can use their index. All columns except prices of price lists are in one table, and these are joined by
  // key. So even a plan with wrong estimates reads the table once at most.
  const isListed = `
      status = 'active'
      and ($tag::text is null or tags @> array[$tag])
      and ($category::uuid is null or category_ids @> array[$category])
      and ($price_min::int8 is null or ${prices}.lowest_price_minor between $price_min and $price_max)
      and ($in_stock::bool is null or in_stock = $in_stock)`

  const byPrice = `${prices}.lowest_price_minor`
  /** Creates the statement of each sort order, for lists or searches. */
  function listsOf<const Q extends StatementValueTypes>(
    verb: string,
    searched: Q,
    textOf: typeof productListSql
  ) {
    type Order = { name: string; key: 'text' | 'int8'; isAfter: string; by: string; id?: string }
    const listBy = ({ name, key, isAfter, by, id = 'id' }: Order) =>
      statement({
        name: `catalog.${verb}_products_by_${name}${suffix}`,
        takes: { key, id: 'uuid', limit: 'int8', ...filters, ...searched, ...takes },
        gives: ofProduct,
        slow: true,
        text: textOf({
          columns: `
      ${id} as id, slug, name, brand, tags, images, created_at, search_text, ${byPrice}, ${prices}.lowest_price_currency,
      ${prices}.lowest_full_price_minor, ${prices}.variant_count, in_stock`,
          joined,
          where: `${isAfter} and ${isListed}`,
          by,
          shown: SHOWN
        })
      })
    return {
      newest: listBy({ name: 'newest', key: 'int8', isAfter: '$key::int8 = 0 and id < $id', by: 'id desc' }),
      name: listBy({
        name: 'name',
        key: 'text',
        isAfter: '(search_text, id) > ($key, $id)',
        by: 'search_text, id'
      }),
      price: listBy({
        name: 'price',
        key: 'int8',
        isAfter: `(${byPrice}, ${productId}) > ($key, $id)`,
        by: 'lowest_price_minor, id',
        id: productId
      }),
      '-price': listBy({
        name: 'falling_price',
        key: 'int8',
        isAfter: `(${byPrice}, ${productId}) < ($key, $id)`,
        by: 'lowest_price_minor desc, id desc',
        id: productId
      })
    }
  }

  return {
    list: listsOf('list', {}, productListSql),
    search: listsOf('search', { q: 'text[]' }, productSearchSql),
    count: statement({
      name: `catalog.count_listed_products${suffix}`,
      takes: { q: 'text[]?', ...filters, ...takes },
      gives: { total: 'int4' },
      slow: true,
      text: countUpTo(
        `catalog.products ${joined} where ${isListed} and ($q::text[] is null or ${productMatchesTextSql('$q')})`
      )
    })
  }
}

/** Queries of product lists at the catalog's own prices. */
export const productQueriesAtCatalogPrices = createListQueries({
  suffix: '',
  takes: {},
  joined: '',
  prices: 'products',
  productId: 'id'
})
/**
 * Queries of product lists at the prices of a price list. `list`: null for a market without one, where no product has a price.
 */
export const productQueriesAtListPrices = createListQueries({
  suffix: '_in_list',
  takes: { list: 'uuid?' },
  joined: `
    left join catalog.list_prices on list_prices.list_id = $list and list_prices.product_id = products.id`,
  prices: 'list_prices',
  productId: 'list_prices.product_id'
})
export type ProductSummaryRow = RowOf<(typeof productQueriesAtCatalogPrices.list)[ProductSort]>

/** The sort key and id before the first product of a list. */
export const positionsBeforeFirstProduct: Record<ProductSort, { key: string | number; id: string }> = {
  newest: { key: 0, id: HIGHEST_ID },
  name: { key: '', id: LOWEST_ID },
  price: { key: -1, id: LOWEST_ID },
  '-price': { key: AMOUNT_MAX + 1, id: HIGHEST_ID }
}
