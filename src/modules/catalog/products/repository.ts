import type { Metadata } from '../../../kernel/metadata.ts'
import { boundedSearchSql } from '../../../platform/postgres/bounded-search.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import {
  adminMetadataColumns,
  hasMetadataSql,
  metadataSearchSqlParts,
  metadataUpdateStatement
} from '../../../platform/postgres/metadata.ts'
import {
  json,
  nullableJson,
  oneOf,
  type RowOf,
  recordsetColumnsSql,
  type StatementResultRow,
  statement
} from '../../../platform/postgres/statement.ts'
import type { AdminVariantResponse } from '../variants/schema.ts'
import { productListSql, productMatchesTextSql, productSearchSql } from './list-sql.ts'
import type { AdminProductResponse } from './schema.ts'

export type ProductStatus = 'draft' | 'active' | 'archived'
export type ProductImage = { url: string; alt: string | null }
export type ProductOption = { name: string; values: string[] }
const columns = {
  id: 'uuid',
  slug: 'text',
  name: 'text',
  description: 'text',
  brand: 'text?',
  status: oneOf<ProductStatus>(),
  tags: 'text[]',
  options: json<ProductOption[]>(),
  images: json<ProductImage[]>()
} as const
const shownNames = Object.keys(columns).join(', ')
const written = { ...columns, search_text: 'text' } as const
const writtenNames = Object.keys(written).join(', ')
/** The columns of a product that are written. `search_text` is name and brand, folded. */
export type ProductRow = StatementResultRow<typeof written>
const record = recordsetColumnsSql(written)

export const findProductDetail = statement({
  name: 'catalog.find_product',
  takes: { id: 'uuid' },
  gives: {
    ...columns,
    version: 'int4',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    ...adminMetadataColumns,
    variants: nullableJson<AdminVariantResponse[]>(),
    categories: nullableJson<AdminProductResponse['categories']>()
  },
  text: `
    select
      ${shownNames}, version, created_at, updated_at, metadata, private_metadata,
      (select jsonb_agg(to_jsonb(shown) order by shown.position, shown.id) from (
         select
           id, product_id, sku, name, price_minor as price, sale_price_minor as sale_price, currency, attributes,
           image_url, weight_grams, barcode, active, position, quantity_min, quantity_max, quantity_step,
           requires_shipping, tax_category, metadata, private_metadata
         from catalog.variants where variants.product_id = products.id
       ) shown) as variants,
      (select jsonb_agg(to_jsonb(shown) order by shown.name, shown.id) from (
         select categories.id, categories.slug, categories.name
         from catalog.categories
         join catalog.product_categories on product_categories.category_id = categories.id
         where product_categories.product_id = products.id
       ) shown) as categories
    from catalog.products
    where id = $id`
})
export const lockProductRow = statement({
  name: 'catalog.lock_product',
  takes: { id: 'uuid' },
  gives: { id: 'uuid', name: 'text', version: 'int4' },
  text: 'select id, name, version from catalog.products where id = $id for update'
})
export const lockProductOfVariant = statement({
  name: 'catalog.lock_product_of_variant',
  takes: { variantId: 'uuid' },
  gives: { id: 'uuid', name: 'text', version: 'int4' },
  text: `
    select products.id, products.name, products.version
    from catalog.products join catalog.variants on variants.product_id = products.id
    where variants.id = $variantId
    for update of products`
})
/** Locks a slug until the transaction ends, so that products of one name get their slugs one at a time. */
export const lockProductSlug = statement({
  name: 'catalog.lock_slug',
  takes: { slug: 'text' },
  text: `select pg_advisory_xact_lock(hashtextextended('catalog.slug ' || $slug, 0))`
})
export const listTakenProductSlugs = statement({
  name: 'catalog.list_taken_slugs',
  takes: { slugs: 'text[]' },
  gives: { slug: 'text' },
  text: 'select slug from catalog.products where slug = any ($slugs)'
})
export const insertProducts = statement({
  name: 'catalog.insert_products',
  takes: { rows: json<ProductRow[]>() },
  text: `
    insert into catalog.products (${writtenNames})
    select ${writtenNames}
    from jsonb_to_recordset($rows) as rows (${record})`
})
/** Updates products and increments their versions. */
export const updateProducts = statement({
  name: 'catalog.update_products',
  takes: { rows: json<ProductRow[]>() },
  text: `
    update catalog.products set
      slug = rows.slug, name = rows.name, description = rows.description, brand = rows.brand, status = rows.status,
      tags = rows.tags, options = rows.options, images = rows.images, search_text = rows.search_text,
      version = version + 1, updated_at = now()
    from jsonb_to_recordset($rows) as rows (${record})
    where products.id = rows.id`
})
export const updateProductMetadata = metadataUpdateStatement(
  'catalog.update_product_metadata',
  'catalog.products'
)
/** Increments the version of a product, after a change of its variants. */
export const incrementProductVersion = statement({
  name: 'catalog.touch_product',
  takes: { id: 'uuid' },
  text: 'update catalog.products set version = version + 1, updated_at = now() where id = $id'
})
/** Deletes a product with its variants. Keeps their names for carts that contain them. */
export const deleteProduct = statement({
  name: 'catalog.delete_product',
  takes: { id: 'uuid' },
  text: `
    with kept as (
      insert into catalog.gone_variants (id, name)
      select variants.id, products.name
      from catalog.variants join catalog.products on products.id = variants.product_id
      where products.id = $id
      on conflict (id) do nothing
    )
    delete from catalog.products where id = $id`
})
/** Removes the product from all categories except these. */
export const deleteOtherProductCategoryLinks = statement({
  name: 'catalog.delete_product_categories',
  takes: { id: 'uuid', categoryIds: 'uuid[]' },
  text: 'delete from catalog.product_categories where product_id = $id and category_id <> all ($categoryIds)'
})
export const insertProductCategoryLinks = statement({
  name: 'catalog.insert_product_categories',
  takes: { id: 'uuid', categoryIds: 'uuid[]' },
  text: `
    insert into catalog.product_categories (product_id, category_id)
    select distinct $id::uuid, category_id from unnest($categoryIds::uuid[]) as wanted (category_id)
    on conflict (product_id, category_id) do update set imported = false`
})
const ofList = {
  takes: { after: 'uuid', statuses: 'text[]', limit: 'int8' },
  gives: {
    id: 'uuid',
    slug: 'text',
    name: 'text',
    brand: 'text?',
    status: oneOf<ProductStatus>(),
    image_url: 'text?',
    variant_count: 'int4',
    version: 'int4',
    created_at: 'timestamptz',
    updated_at: 'timestamptz'
  },
  slow: true
} as const
const list = {
  columns: 'id, slug, name, brand, status, images, version, created_at, updated_at',
  where: 'id < $after and status = any ($statuses)',
  by: 'id desc',
  shown: `
      id, slug, name, brand, status, images -> 0 ->> 'url' as image_url,
      (select count(*)::int from catalog.variants where variants.product_id = page.id) as variant_count,
      version, created_at, updated_at`
}
/** Lists products after the id `after`, newest first. */
export const listProducts = statement({
  name: 'catalog.list_all_products',
  ...ofList,
  text: productListSql(list)
})
/** Lists products that contain a text, newest first. */
export const searchProducts = statement({
  name: 'catalog.search_all_products',
  ...ofList,
  takes: { ...ofList.takes, q: 'text[]', metadata: nullableJson<Metadata>() },
  text: productSearchSql({ ...list, where: `${list.where} and ${hasMetadataSql}` })
})
/** Lists products with this metadata, newest first. */
export const listProductsMatchingMetadata = statement({
  name: 'catalog.list_products_with_metadata',
  ...ofList,
  takes: { ...ofList.takes, metadata: json<Metadata>() },
  text: boundedSearchSql({ ...list, table: 'catalog.products', ...metadataSearchSqlParts })
})
/** Lists products by the time of their last change. `at` is in microseconds since 1970. */
export const listChangedProducts = statement({
  name: 'catalog.list_changed_products',
  takes: { at: 'float8', after: 'uuid', limit: 'int8' },
  gives: { ...ofList.gives, changed_at: 'int8' },
  slow: true,
  text: `
    select ${list.shown}, (extract(epoch from updated_at) * 1000000)::int8 as changed_at
    from catalog.products page
    where (updated_at, id) > (timestamptz 'epoch' + $at * interval '1 microsecond', $after)
    order by updated_at, id limit $limit`
})
export const countChangedProducts = statement({
  name: 'catalog.count_changed_products',
  takes: { since: 'timestamptz' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo('catalog.products where updated_at >= $since')
})
export const countProducts = statement({
  name: 'catalog.count_all_products',
  takes: { statuses: 'text[]', q: 'text[]?', metadata: nullableJson<Metadata>() },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(
    `catalog.products where status = any ($statuses) and ($q::text[] is null or ${productMatchesTextSql('$q')}) and ${hasMetadataSql}`
  )
})
export const findIdOfAnyProduct = statement({
  name: 'catalog.find_any_product',
  gives: { id: 'uuid' },
  text: 'select id from catalog.products limit 1'
})
/** Returns the currency of a variant, if there are variants and none has this currency. */
export const findOtherVariantCurrency = statement({
  name: 'catalog.find_other_currency',
  takes: { currency: 'text' },
  gives: { currency: 'text' },
  text: `
    select currency from catalog.variants
    where not exists (select from catalog.variants where currency = $currency) limit 1`
})
/** Lists variants that are for sale, those with a sale price first. */
export const listFirstVariantIdsForSale = statement({
  name: 'catalog.list_variant_ids_for_sale',
  takes: { currency: 'text', limit: 'int8' },
  gives: { id: 'uuid' },
  text: `
    select variants.id
    from catalog.variants join catalog.products on products.id = variants.product_id
    where variants.active and variants.currency = $currency and products.status = 'active'
    order by coalesce(sale_price_minor < price_minor, false) desc, variants.id limit $limit`
})

export type ProductDetailRow = RowOf<typeof findProductDetail>
