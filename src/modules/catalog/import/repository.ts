import type { Transaction } from '../../../platform/postgres/database.ts'
import { json, nullableJson, statement } from '../../../platform/postgres/statement.ts'
import type { ProductRow } from '../products/repository.ts'
import type { VariantRow } from '../variants/repository.ts'
import type { StoredProduct } from './diff.ts'

/**
 * Plans each statement for its values until the transaction ends. Connections cache one plan per statement,
 * which suits single rows. Cached plans of batches come from a time when the tables were empty: an import of
 * 100,000 rows took twice as long (2026-11).
 */
export const forceCustomQueryPlans = statement({
  name: 'catalog.plan_each_time',
  gives: { plan_cache_mode: 'text' },
  text: `select set_config('plan_cache_mode', 'force_custom_plan', true) as plan_cache_mode`
})
const lockProducts = statement({
  name: 'catalog.lock_products_by_slug',
  takes: { slugs: 'text[]' },
  gives: { id: 'uuid' },
  text: 'select id from catalog.products where slug = any ($slugs) order by id for update'
})
const listStored = statement({
  name: 'catalog.list_stored_products',
  takes: { ids: 'uuid[]' },
  gives: {
    product: json<ProductRow>(),
    variants: nullableJson<VariantRow[]>(),
    links: nullableJson<StoredProduct['links']>()
  },
  text: `
    select
      jsonb_build_object(
        'id', id, 'slug', slug, 'name', name, 'description', description, 'brand', brand, 'status', status,
        'tags', tags, 'options', options, 'images', images, 'search_text', search_text) as product,
      (select jsonb_agg(to_jsonb(rows)) from (
         select
           id, product_id, sku, name, price_minor, sale_price_minor, currency, attributes, image_url, weight_grams,
           barcode, active, position, quantity_min, quantity_max, quantity_step, requires_shipping, tax_category
         from catalog.variants where variants.product_id = products.id
       ) rows) as variants,
      (select jsonb_agg(jsonb_build_object('category_id', category_id, 'imported', imported))
       from catalog.product_categories where product_categories.product_id = products.id) as links
    from catalog.products
    where id = any ($ids)`
})
const listSkuOwners = statement({
  name: 'catalog.list_sku_owners',
  takes: { skus: 'text[]' },
  gives: { sku: 'text', slug: 'text' },
  text: `
    select variants.sku, products.slug
    from catalog.variants join catalog.products on products.id = variants.product_id
    where variants.sku = any ($skus)`
})
/** Inserts categories at the root. Skips those whose slug exists. */
export const insertImportedCategories = statement({
  name: 'catalog.insert_categories',
  takes: { rows: json<{ id: string; slug: string; name: string }[]>() },
  text: `
    insert into catalog.categories (id, slug, name, position, path)
    select id, slug, name, 0, array[id]
    from jsonb_to_recordset($rows) as rows (id uuid, slug text, name text)
    order by slug
    on conflict (slug) do nothing`
})
const listCategoryIds = statement({
  name: 'catalog.list_category_ids',
  takes: { slugs: 'text[]' },
  gives: { id: 'uuid', slug: 'text' },
  text: 'select id, slug from catalog.categories where slug = any ($slugs)'
})

export type ProductCategoryLink = { product_id: string; category_id: string }

export const insertImportedCategoryLinks = statement({
  name: 'catalog.insert_imported_categories',
  takes: { rows: json<ProductCategoryLink[]>() },
  text: `
    insert into catalog.product_categories (product_id, category_id, imported)
    select product_id, category_id, true
    from jsonb_to_recordset($rows) as rows (product_id uuid, category_id uuid)
    on conflict (product_id, category_id) do nothing`
})
/** Deletes links to categories that an import created. */
export const deleteImportedCategoryLinks = statement({
  name: 'catalog.delete_imported_categories',
  takes: { rows: json<ProductCategoryLink[]>() },
  text: `
    delete from catalog.product_categories
    using jsonb_to_recordset($rows) as rows (product_id uuid, category_id uuid)
    where product_categories.product_id = rows.product_id
      and product_categories.category_id = rows.category_id and product_categories.imported`
})
/** Updates the statistics of PostgreSQL's planner. */
export const analyzeCatalogTables = statement({
  name: 'catalog.analyze_tables',
  text: 'analyze catalog.products, catalog.variants, catalog.categories, catalog.product_categories'
})

/** Returns the products with these slugs, by slug, and locks them until `tx` ends. */
export async function lockStoredProductsBySlug(
  tx: Transaction,
  slugs: readonly string[]
): Promise<Map<string, StoredProduct>> {
  const locked = await tx.rows(lockProducts, { slugs })
  if (locked.length === 0) return new Map()
  const rows = await tx.rows(listStored, { ids: locked.map(({ id }) => id) })
  return new Map(
    rows.map(({ product, variants, links }) => [
      product.slug,
      { product, variants: variants ?? [], links: links ?? [] }
    ])
  )
}

/** Returns the slugs of the products that have these SKUs, by SKU. */
export async function findProductSlugsBySku(
  tx: Transaction,
  skus: readonly string[]
): Promise<Map<string, string>> {
  if (skus.length === 0) return new Map()
  const rows = await tx.rows(listSkuOwners, { skus })
  return new Map(rows.map(({ sku, slug }) => [sku, slug]))
}

/** Returns the ids of the categories with these slugs, by slug. */
export async function findCategoryIdsBySlug(
  tx: Transaction,
  slugs: readonly string[]
): Promise<Map<string, string>> {
  if (slugs.length === 0) return new Map()
  const rows = await tx.rows(listCategoryIds, { slugs })
  return new Map(rows.map(({ id, slug }) => [slug, id]))
}
