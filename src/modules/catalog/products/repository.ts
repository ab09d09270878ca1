import type { Queryable, Transaction } from '../../../platform/postgres.ts'
import { type RowOf, slowStatement, statement } from '../../../platform/statement.ts'

const columns = `id uuid, slug text, name text, description text, brand text, status text, tags text[],
  options jsonb, images jsonb, search_text text`

const findProduct = statement(
  'catalog.find_product',
  {
    id: 'uuid',
    slug: 'text',
    name: 'text',
    description: 'text',
    brand: 'text?',
    status: 'text',
    tags: 'text[]',
    options: 'jsonb',
    images: 'jsonb',
    version: 'int4',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    variants: 'jsonb?',
    categories: 'jsonb?'
  },
  `select
     id, slug, name, description, brand, status, tags, options, images, version, created_at, updated_at,
     (select jsonb_agg(to_jsonb(shown) order by shown.position, shown.id) from (
        select
          id, product_id, sku, name, price_minor as price, sale_price_minor as sale_price, currency, attributes,
          image_url, weight_grams, barcode, active, position
        from catalog.variants where variants.product_id = products.id
      ) shown) as variants,
     (select jsonb_agg(to_jsonb(shown) order by shown.name, shown.id) from (
        select categories.id, categories.slug, categories.name
        from catalog.categories
        join catalog.product_categories on product_categories.category_id = categories.id
        where product_categories.product_id = products.id
      ) shown) as categories
   from catalog.products
   where id = $1 or slug = $2`
)
const lockProduct = statement(
  'catalog.lock_product',
  { id: 'uuid', name: 'text', version: 'int4' },
  'select id, name, version from catalog.products where id = $1 for update'
)
const insertProducts = statement(
  'catalog.insert_products',
  {},
  `insert into catalog.products (id, slug, name, description, brand, status, tags, options, images, search_text)
   select id, slug, name, description, brand, status, tags, options, images, search_text
   from jsonb_to_recordset($1::jsonb) as rows (${columns})`
)
const updateProducts = statement(
  'catalog.update_products',
  {},
  `update catalog.products set
     slug = rows.slug, name = rows.name, description = rows.description, brand = rows.brand, status = rows.status,
     tags = rows.tags, options = rows.options, images = rows.images, search_text = rows.search_text,
     version = version + 1, updated_at = now()
   from jsonb_to_recordset($1::jsonb) as rows (${columns})
   where products.id = rows.id`
)
const touchProducts = statement(
  'catalog.touch_products',
  {},
  'update catalog.products set version = version + 1, updated_at = now() where id = any ($1)'
)
const deleteProduct = statement('catalog.delete_product', {}, 'delete from catalog.products where id = $1')
const deleteLinks = statement(
  'catalog.delete_product_categories',
  {},
  'delete from catalog.product_categories where product_id = $1 and category_id <> all ($2)'
)
const insertLinks = statement(
  'catalog.insert_product_categories',
  {},
  `insert into catalog.product_categories (product_id, category_id)
   select distinct $1::uuid, category_id from unnest($2::uuid[]) as wanted (category_id)
   on conflict (product_id, category_id) do update set imported = false`
)
const listProducts = slowStatement(
  'catalog.list_all_products',
  {
    id: 'uuid',
    slug: 'text',
    name: 'text',
    brand: 'text?',
    status: 'text',
    image_url: 'text?',
    variant_count: 'int4',
    version: 'int4',
    created_at: 'timestamptz',
    updated_at: 'timestamptz'
  },
  `select
     id, slug, name, brand, status, images -> 0 ->> 'url' as image_url,
     (select count(*)::int from catalog.variants where variants.product_id = products.id) as variant_count,
     version, created_at, updated_at
   from catalog.products
   where id < $1 and status = any ($2) and ($3 = '%' or search_text like $3 or exists (
     select from catalog.variants where variants.product_id = products.id and lower(variants.sku) like $3))
   order by id desc limit $4`
)
const countProducts = slowStatement(
  'catalog.count_all_products',
  { total: 'int4' },
  `select count(*)::int as total
   from catalog.products
   where status = any ($1) and ($2 = '%' or search_text like $2 or exists (
     select from catalog.variants where variants.product_id = products.id and lower(variants.sku) like $2))`
)

const findAnyProduct = statement(
  'catalog.find_any_product',
  { id: 'uuid' },
  'select id from catalog.products limit 1'
)
const listForSale = statement(
  'catalog.list_variant_ids_for_sale',
  { id: 'uuid' },
  `select variants.id
   from catalog.variants join catalog.products on products.id = variants.product_id
   where variants.active and variants.currency = $1 and products.status = 'active'
   order by coalesce(sale_price_minor < price_minor, false) desc, variants.id limit $2`
)

export type ProductDetail = RowOf<typeof findProduct>
export type ProductSummary = RowOf<typeof listProducts>
export type StoredImage = { url: string; alt: string | null }
export type Option = { name: string; values: string[] }
/** What is written of a product. `search_text` is name and brand, folded. */
export type ProductRow = {
  id: string
  slug: string
  name: string
  description: string
  brand: string | null
  status: 'draft' | 'active' | 'archived'
  tags: string[]
  options: Option[]
  images: StoredImage[]
  search_text: string
}

export const find = async (db: Queryable, key: { id?: string; slug?: string }) =>
  (await db.query(findProduct, [key.id ?? null, key.slug ?? null]))[0]

/** Holds the product until `tx` ends. */
export const lock = async (tx: Transaction, id: string) => (await tx.query(lockProduct, [id]))[0]

export async function insert(tx: Transaction, rows: readonly ProductRow[]): Promise<void> {
  await tx.query(insertProducts, [JSON.stringify(rows)])
}

/** Each gets its next version. */
export async function update(tx: Transaction, rows: readonly ProductRow[]): Promise<void> {
  await tx.query(updateProducts, [JSON.stringify(rows)])
}

/** Gives each its next version: something that belongs to it has changed. */
export async function touch(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.query(touchProducts, [ids])
}

/** With its variants. */
export async function remove(tx: Transaction, id: string): Promise<void> {
  await tx.query(deleteProduct, [id])
}

/** From now on the product is in these categories and no others. */
export async function replaceCategories(tx: Transaction, id: string, categoryIds: readonly string[]) {
  await tx.query(deleteLinks, [id, categoryIds])
  await tx.query(insertLinks, [id, categoryIds])
}

type Filter = { statuses: readonly string[]; pattern: string }

/** The newest first, those behind `after`. */
export const list = (db: Queryable, { statuses, pattern }: Filter, after: string, limit: number) =>
  db.query(listProducts, [after, statuses, pattern, limit])

export async function count(db: Queryable, { statuses, pattern }: Filter): Promise<number> {
  const [row] = await db.query(countProducts, [statuses, pattern])
  return row?.total ?? 0
}

export const isEmpty = async (db: Queryable): Promise<boolean> =>
  (await db.query(findAnyProduct, [])).length === 0

/** Variants that can be bought, those with a sale price first. */
export const listVariantIdsForSale = async (
  db: Queryable,
  currency: string,
  limit: number
): Promise<string[]> => (await db.query(listForSale, [currency, limit])).map(({ id }) => id)
