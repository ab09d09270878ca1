import type { Queryable, Transaction } from '../../../platform/postgres.ts'
import { slowStatement, statement } from '../../../platform/statement.ts'
import type { ProductRow } from '../products/repository.ts'
import type { VariantRow } from '../variants/repository.ts'
import type { Stored } from './diff.ts'

// The connections keep one plan a statement, which is right for looking up single rows. A batch is another thing, and
// the plans for it were made when the tables were empty: 100,000 rows took twice as long (2026-11).
const planEachTime = statement(
  'catalog.plan_each_time',
  { plan_cache_mode: 'text' },
  `select set_config('plan_cache_mode', 'force_custom_plan', true) as plan_cache_mode`
)
const lockProducts = statement(
  'catalog.lock_products_by_slug',
  { id: 'uuid' },
  'select id from catalog.products where slug = any ($1) order by id for update'
)
const listStored = statement(
  'catalog.list_stored_products',
  { product: 'jsonb', variants: 'jsonb?', links: 'jsonb?' },
  `select
     jsonb_build_object(
       'id', id, 'slug', slug, 'name', name, 'description', description, 'brand', brand, 'status', status,
       'tags', tags, 'options', options, 'images', images, 'search_text', search_text) as product,
     (select jsonb_agg(to_jsonb(rows)) from (
        select
          id, product_id, sku, name, price_minor, sale_price_minor, currency, attributes, image_url, weight_grams,
          barcode, active, position
        from catalog.variants where variants.product_id = products.id
      ) rows) as variants,
     (select jsonb_agg(jsonb_build_object('category_id', category_id, 'imported', imported))
      from catalog.product_categories where product_categories.product_id = products.id) as links
   from catalog.products
   where id = any ($1)`
)
const listSkuOwners = statement(
  'catalog.list_sku_owners',
  { sku: 'text', slug: 'text' },
  `select variants.sku, products.slug
   from catalog.variants join catalog.products on products.id = variants.product_id
   where variants.sku = any ($1)`
)
const insertCategories = statement(
  'catalog.insert_categories',
  {},
  `insert into catalog.categories (id, slug, name, position, path)
   select id, slug, name, 0, array[id]
   from jsonb_to_recordset($1::jsonb) as rows (id uuid, slug text, name text)
   order by slug
   on conflict (slug) do nothing`
)
const listCategoryIds = statement(
  'catalog.list_category_ids',
  { id: 'uuid', slug: 'text' },
  'select id, slug from catalog.categories where slug = any ($1)'
)
const insertLinks = statement(
  'catalog.insert_imported_categories',
  {},
  `insert into catalog.product_categories (product_id, category_id, imported)
   select product_id, category_id, true
   from jsonb_to_recordset($1::jsonb) as rows (product_id uuid, category_id uuid)
   on conflict (product_id, category_id) do nothing`
)
const deleteLinks = statement(
  'catalog.delete_imported_categories',
  {},
  `delete from catalog.product_categories
   using jsonb_to_recordset($1::jsonb) as rows (product_id uuid, category_id uuid)
   where product_categories.product_id = rows.product_id
     and product_categories.category_id = rows.category_id and product_categories.imported`
)

/** Until `tx` ends, every statement is planned for the values that it has. */
export async function preferFreshPlans(tx: Transaction): Promise<void> {
  await tx.query(planEachTime, [])
}

/** The products with these slugs, held until `tx` ends; by slug. */
export async function lockStored(tx: Transaction, slugs: readonly string[]): Promise<Map<string, Stored>> {
  const ids = (await tx.query(lockProducts, [slugs])).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const rows = await tx.query(listStored, [ids])
  return new Map(
    rows.map(row => {
      const product = row.product as ProductRow
      const variants = (row.variants ?? []) as VariantRow[]
      const links = (row.links ?? []) as Stored['links']
      return [product.slug, { product, variants, links }]
    })
  )
}

/** Which products have these SKUs: slug by SKU. */
export async function skuOwners(tx: Transaction, skus: readonly string[]): Promise<Map<string, string>> {
  if (skus.length === 0) return new Map()
  const rows = await tx.query(listSkuOwners, [skus])
  return new Map(rows.map(({ sku, slug }) => [sku, slug]))
}

/** The ids of the categories with these slugs, by slug. */
export async function categoryIds(tx: Transaction, slugs: readonly string[]): Promise<Map<string, string>> {
  if (slugs.length === 0) return new Map()
  const rows = await tx.query(listCategoryIds, [slugs])
  return new Map(rows.map(({ id, slug }) => [slug, id]))
}

export async function addCategories(
  tx: Transaction,
  rows: readonly { id: string; slug: string; name: string }[]
): Promise<void> {
  await tx.query(insertCategories, [JSON.stringify(rows)])
}

type Link = { product_id: string; category_id: string }

export async function addLinks(tx: Transaction, links: readonly Link[]): Promise<void> {
  await tx.query(insertLinks, [JSON.stringify(links)])
}

export async function removeLinks(tx: Transaction, links: readonly Link[]): Promise<void> {
  await tx.query(deleteLinks, [JSON.stringify(links)])
}

const analyzeTables = slowStatement(
  'catalog.analyze_tables',
  {},
  'analyze catalog.products, catalog.variants, catalog.categories, catalog.product_categories'
)
/** Tells PostgreSQL's planner how much there is now. */
export async function analyze(db: Queryable): Promise<void> {
  await db.query(analyzeTables, [])
}
