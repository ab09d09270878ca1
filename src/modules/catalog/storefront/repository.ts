import { AMOUNT_MAX } from '../../../kernel/money.ts'
import type { Queryable } from '../../../platform/postgres.ts'
import { type RowOf, slowStatement, statement } from '../../../platform/statement.ts'
import { FIRST_ID, LAST_ID } from '../cursor.ts'
import type { Sort } from './schema.ts'

const findProduct = statement(
  'catalog.find_active_product',
  {
    id: 'uuid',
    slug: 'text',
    name: 'text',
    description: 'text',
    brand: 'text?',
    tags: 'text[]',
    options: 'jsonb',
    images: 'jsonb',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    variants: 'jsonb?',
    categories: 'jsonb?'
  },
  `select
     id, slug, name, description, brand, tags, options, images, created_at, updated_at,
     (select jsonb_agg(to_jsonb(shown) order by shown.position, shown.id) from (
        select
          id, sku, name, price_minor, sale_price_minor, attributes, image_url, weight_grams, barcode, position,
          (select jsonb_agg(to_jsonb(discounts))
           from catalog.variant_discounts discounts where discounts.variant_id = variants.id) as discounts
        from catalog.variants
        where variants.product_id = products.id and variants.active and variants.currency = $3
      ) shown) as variants,
     (select jsonb_agg(to_jsonb(shown) order by shown.name, shown.id) from (
        select categories.id, categories.slug, categories.name
        from catalog.categories
        join catalog.product_categories on product_categories.category_id = categories.id
        where product_categories.product_id = products.id
      ) shown) as categories
   from catalog.products
   where (id = $1 or slug = $2) and status = 'active'
   order by id = $1 desc nulls last limit 1`
)
const listPrices = slowStatement(
  'catalog.list_variant_prices',
  { product_id: 'uuid', price_minor: 'int8', sale_price_minor: 'int8?', discounts: 'jsonb?' },
  `select
     product_id, price_minor, sale_price_minor,
     (select jsonb_agg(to_jsonb(discounts))
      from catalog.variant_discounts discounts where discounts.variant_id = variants.id) as discounts
   from catalog.variants
   where product_id = any ($1) and active and currency = $2`
)

const summaryColumns = {
  id: 'uuid',
  slug: 'text',
  name: 'text',
  brand: 'text?',
  tags: 'text[]',
  image_url: 'text?',
  created_at: 'timestamptz',
  search_text: 'text',
  lowest_price_minor: 'int8?'
} as const

// Each order has an index. `start` is what lies before the first product: what the first page starts behind.
const orders = {
  newest: { behind: '$1::int8 = 0 and id < $2', by: 'id desc', start: { key: 0, id: LAST_ID } },
  name: { behind: '(search_text, id) > ($1, $2)', by: 'search_text, id', start: { key: '', id: FIRST_ID } },
  price: {
    behind: '(lowest_price_minor, id) > ($1, $2)',
    by: 'lowest_price_minor, id',
    start: { key: -1, id: FIRST_ID }
  },
  '-price': {
    behind: '(lowest_price_minor, id) < ($1, $2)',
    by: 'lowest_price_minor desc, id desc',
    start: { key: AMOUNT_MAX + 1, id: LAST_ID }
  }
} satisfies Record<Sort, { behind: string; by: string; start: Position }>

const filters = {
  category: (n: number) => `id in (
     select product_categories.product_id from catalog.product_categories
     join catalog.categories on categories.id = product_categories.category_id
     where categories.path && array(select id from catalog.categories where id = $${n} or slug = $${n + 1}))`,
  tag: (n: number) => `tags @> array[$${n}]`,
  text: (n: number) => `id in (
     select id from catalog.products where search_text like $${n}
     union all select product_id from catalog.variants where lower(sku) like $${n})`,
  price: (n: number) => `lowest_price_minor between $${n} and $${n + 1}`
}
type Filter = keyof typeof filters
/** The values of the filters that are asked for. */
export type Filters = { [F in Filter]?: readonly unknown[] }
/** Sort key and id of the product that a page starts behind. */
export type Position = { key: string | number; id: string }

// Optional conditions (`$1 is null or …`) would keep PostgreSQL from its indexes, so each combination of filters is a
// statement of its own, put together here once from the pieces above.
const names = Object.keys(filters) as Filter[]
const combinations = Array.from({ length: 2 ** names.length }, (_, mask) =>
  names.filter((_name, bit) => (mask & (1 << bit)) !== 0)
)
const nameOf = (prefix: string, combination: readonly Filter[]) =>
  [`catalog.${prefix}`, ...combination].join('_')

function conditionsOf(combination: readonly Filter[], from: number): string {
  const conditions = [`status = 'active'`]
  let next = from
  for (const name of combination) {
    conditions.push(filters[name](next))
    next += name === 'category' || name === 'price' ? 2 : 1
  }
  return conditions.join('\n     and ')
}

function declareList(sort: Sort, combination: readonly Filter[]) {
  const { behind, by } = orders[sort]
  return slowStatement(
    nameOf(`list_products_by_${sort.replace('-', 'falling_')}`, combination),
    summaryColumns,
    `select
       id, slug, name, brand, tags, images -> 0 ->> 'url' as image_url, created_at, search_text, lowest_price_minor
     from catalog.products
     where ${behind} and ${conditionsOf(combination, 4)}
     order by ${by} limit $3`
  )
}
const declareCount = (combination: readonly Filter[]) =>
  slowStatement(
    nameOf('count_products', combination),
    { total: 'int4' },
    `select count(*)::int as total from catalog.products where ${conditionsOf(combination, 1)}`
  )

type List = ReturnType<typeof declareList>
const lists = new Map<string, List>()
const counts = new Map<string, ReturnType<typeof declareCount>>()
for (const combination of combinations) {
  const key = combination.join()
  counts.set(key, declareCount(combination))
  for (const sort of Object.keys(orders) as Sort[])
    lists.set(`${sort} ${key}`, declareList(sort, combination))
}

export type ProductPage = RowOf<typeof findProduct>
export type SummaryRow = RowOf<List>
export type PriceRow = RowOf<typeof listPrices>

/** An active product, with its variants that are sold in `currency`. */
export const find = async (db: Queryable, key: { id?: string; slug?: string }, currency: string) =>
  (await db.query(findProduct, [key.id ?? null, key.slug ?? null, currency]))[0]

/** Active products in the order of `sort`, from behind `after`, or from the first one. */
export async function list(
  db: Queryable,
  sort: Sort,
  given: Filters,
  after: Position | undefined,
  limit: number
): Promise<SummaryRow[]> {
  const used = names.filter(name => given[name] !== undefined)
  const { key, id } = after ?? orders[sort].start
  const values = used.flatMap(name => given[name] ?? [])
  return db.query(lists.get(`${sort} ${used.join()}`) as List, [key, id, limit, ...values])
}

export async function count(db: Queryable, given: Filters): Promise<number> {
  const used = names.filter(name => given[name] !== undefined)
  const values = used.flatMap(name => given[name] ?? [])
  const [row] = await db.query(counts.get(used.join()) as ReturnType<typeof declareCount>, values)
  return row?.total ?? 0
}

/** What the variants of these products are sold for, in any order. */
export const prices = (db: Queryable, productIds: readonly string[], currency: string): Promise<PriceRow[]> =>
  db.query(listPrices, [productIds, currency])
