import { FIRST_ID, LAST_ID } from '../../../kernel/ids.ts'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import {
  json,
  nullableJson,
  type Row,
  type RowOf,
  statement,
  type Values
} from '../../../platform/postgres/statement.ts'
import type { Discount } from '../discounts/pricing.ts'
import type { ProductResponse, Sort, VariantResponse } from './schema.ts'

export type StoredVariant = Omit<VariantResponse, 'price' | 'discounted_price' | 'currency' | 'stock'> & {
  price_minor: number
  sale_price_minor: number | null
  discounts: Discount[] | null
}

/** Of an active product, by id or slug. */
export const findProductId = statement({
  name: 'catalog.find_active_product_id',
  takes: { id: 'uuid?', slug: 'text' },
  gives: { id: 'uuid' },
  text: `
    select id from catalog.products
    where (id = $id or slug = $slug) and status = 'active'
    order by id = $id desc nulls last limit 1`
})

/** An active product by id or slug, with its variants that are sold in a currency. */
export const findProduct = statement({
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
    variants: nullableJson<StoredVariant[]>(),
    categories: nullableJson<ProductResponse['categories']>()
  },
  text: `
    select
      id, slug, name, description, brand, tags, options, images, created_at, updated_at,
      (select jsonb_agg(to_jsonb(shown) order by shown.position, shown.id) from (
         select
           id, sku, name, price_minor, sale_price_minor, attributes, image_url, weight_grams, barcode, position,
           quantity_min, quantity_max, quantity_step,
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
export type ProductPageRow = RowOf<typeof findProduct>

const filters = {
  q: 'text[]?',
  tag: 'text?',
  category: 'uuid?',
  price_min: 'int8?',
  price_max: 'int8?',
  in_stock: 'bool?'
} as const
export type ListFilters = Row<typeof filters>
/** Whose lowest prices a list of products shows. */
type Source<X extends Values> = {
  /** Ends the names of its statements. */
  suffix: string
  takes: X
  /** Behind the table of products. */
  joined: string
  /** Where the prices stand, and the product that they are of. */
  prices: string
  productId: string
}

/** Active products from behind a sort key and an id, at the prices of a source. Each order has an index. */
function createLists<const X extends Values>({ suffix, takes, joined, prices, productId }: Source<X>) {
  // A slow statement is planned for the values that it is given: what is null is no part of the plan, and what is not can use its
  // index. All but the prices of price lists is of one table, so that no plan, however wrong its guesses, reads more than that
  // once; those are joined by their key.
  const isListed = `
      status = 'active'
      and ($q::text[] is null or search_text like any ($q) or sku_text like any ($q))
      and ($tag::text is null or tags @> array[$tag])
      and ($category::uuid is null or category_ids @> array[$category])
      and ($price_min::int8 is null or ${prices}.lowest_price_minor between $price_min and $price_max)
      and ($in_stock::bool is null or in_stock = $in_stock)`

  type Order = { name: string; key: 'text' | 'int8'; behind: string; by: string }
  const listBy = ({ name, key, behind, by }: Order) =>
    statement({
      name: `catalog.list_products_by_${name}${suffix}`,
      takes: { key, id: 'uuid', limit: 'int8', ...filters, ...takes },
      gives: {
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
      },
      slow: true,
      text: `
    select
      id, slug, name, brand, tags, images -> 0 ->> 'url' as image_url, created_at, search_text, ${prices}.lowest_price_minor,
      ${prices}.lowest_price_currency, ${prices}.lowest_full_price_minor, ${prices}.variant_count, in_stock
    from catalog.products ${joined}
    where ${behind} and ${isListed}
    order by ${by} limit $limit`
    })

  const byPrice = `${prices}.lowest_price_minor`
  return {
    newest: listBy({ name: 'newest', key: 'int8', behind: '$key::int8 = 0 and id < $id', by: 'id desc' }),
    name: listBy({
      name: 'name',
      key: 'text',
      behind: '(search_text, id) > ($key, $id)',
      by: 'search_text, id'
    }),
    price: listBy({
      name: 'price',
      key: 'int8',
      behind: `(${byPrice}, ${productId}) > ($key, $id)`,
      by: `${byPrice}, ${productId}`
    }),
    '-price': listBy({
      name: 'falling_price',
      key: 'int8',
      behind: `(${byPrice}, ${productId}) < ($key, $id)`,
      by: `${byPrice} desc, ${productId} desc`
    }),
    count: statement({
      name: `catalog.count_listed_products${suffix}`,
      takes: { ...filters, ...takes },
      gives: { total: 'int4' },
      slow: true,
      text: countUpTo(`catalog.products ${joined} where ${isListed}`)
    })
  }
}

/** At the catalog's own prices. */
export const ownPrices = createLists({
  suffix: '',
  takes: {},
  joined: '',
  prices: 'products',
  productId: 'id'
})
/** At the prices of a price list; `list`: null for one that has none. */
export const listPrices = createLists({
  suffix: '_in_list',
  takes: { list: 'uuid?' },
  joined: `
    left join catalog.list_prices on list_prices.list_id = $list and list_prices.product_id = products.id`,
  prices: 'list_prices',
  productId: 'list_prices.product_id'
})
export type SummaryRow = RowOf<(typeof ownPrices)[Sort]>

/** Sort key and id of what lies before the first product of a list. */
export const beforeFirst: Record<Sort, { key: string | number; id: string }> = {
  newest: { key: 0, id: LAST_ID },
  name: { key: '', id: FIRST_ID },
  price: { key: -1, id: FIRST_ID },
  '-price': { key: AMOUNT_MAX + 1, id: LAST_ID }
}
