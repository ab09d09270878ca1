import { adminMetadataColumns, metadataUpdateStatement } from '../../../platform/postgres/metadata.ts'
import {
  json,
  type RowOf,
  recordsetColumnsSql,
  type StatementResultRow,
  statement
} from '../../../platform/postgres/statement.ts'

const columns = {
  id: 'uuid',
  product_id: 'uuid',
  sku: 'text',
  name: 'text',
  price_minor: 'int8',
  sale_price_minor: 'int8?',
  currency: 'text',
  attributes: json<Record<string, string>>(),
  image_url: 'text?',
  weight_grams: 'int4?',
  barcode: 'text?',
  active: 'bool',
  position: 'int4',
  quantity_min: 'int4',
  quantity_max: 'int4?',
  quantity_step: 'int4',
  requires_shipping: 'bool',
  tax_category: 'text?'
} as const
const names = Object.keys(columns).join(', ')
const record = recordsetColumnsSql(columns)

/** Returns a variant with the version of its product. */
export const findVariant = statement({
  name: 'catalog.find_variant',
  takes: { id: 'uuid' },
  gives: { ...columns, ...adminMetadataColumns, version: 'int4' },
  text: `
    select ${Object.keys(columns)
      .map(column => `variants.${column}`)
      .join(', ')},
      variants.metadata, variants.private_metadata, products.version
    from catalog.variants join catalog.products on products.id = variants.product_id
    where variants.id = $id`
})
export const countVariantsOfProduct = statement({
  name: 'catalog.count_variants',
  takes: { productId: 'uuid' },
  gives: { total: 'int4', last_position: 'int4' },
  text: `
    select count(*)::int as total, coalesce(max(position), 0) as last_position
    from catalog.variants where product_id = $productId`
})

export type VariantRowWithVersion = RowOf<typeof findVariant>
export type VariantRow = StatementResultRow<typeof columns>

export const insertVariants = statement({
  name: 'catalog.insert_variants',
  takes: { rows: json<VariantRow[]>() },
  text: `
    insert into catalog.variants (${names})
    select ${names}
    from jsonb_to_recordset($rows) as rows (${record})`
})
export const updateVariantMetadata = metadataUpdateStatement(
  'catalog.update_variant_metadata',
  'catalog.variants'
)
export const updateVariants = statement({
  name: 'catalog.update_variants',
  takes: { rows: json<VariantRow[]>() },
  text: `
    update catalog.variants set
      sku = rows.sku, name = rows.name, price_minor = rows.price_minor, sale_price_minor = rows.sale_price_minor,
      currency = rows.currency, attributes = rows.attributes, image_url = rows.image_url,
      weight_grams = rows.weight_grams, barcode = rows.barcode, active = rows.active, position = rows.position,
      quantity_min = rows.quantity_min, quantity_max = rows.quantity_max, quantity_step = rows.quantity_step,
      requires_shipping = rows.requires_shipping, tax_category = rows.tax_category
    from jsonb_to_recordset($rows) as rows (${record})
    where variants.id = rows.id`
})
/** Deletes a variant. Keeps its name for carts that contain it. */
export const deleteVariant = statement({
  name: 'catalog.delete_variant',
  takes: { id: 'uuid' },
  text: `
    with kept as (
      insert into catalog.gone_variants (id, name)
      select variants.id, products.name
      from catalog.variants join catalog.products on products.id = variants.product_id
      where variants.id = $id
      on conflict (id) do nothing
    )
    delete from catalog.variants where id = $id`
})
/**
 * Deletes the names of variants that were deleted `$days` days ago. Carts show these variants without a name.
 */
export const deleteNamesOfLongDeletedVariants = statement({
  name: 'catalog.delete_gone_variants',
  takes: { days: 'int4' },
  text: `
    delete from catalog.gone_variants where id in (
      select id from catalog.gone_variants where gone_at <= now() - make_interval(days => $days)
      order by gone_at limit 1000 for update skip locked)`
})
/** Lists the variants with these SKUs, for sale or not. */
export const listVariantsBySku = statement({
  name: 'catalog.list_variants_by_sku',
  takes: { skus: 'text[]' },
  gives: { id: 'uuid', product_id: 'uuid', sku: 'text', is_active: 'bool' },
  text: `
    select variants.id, product_id, sku, variants.active and products.status = 'active' as is_active
    from catalog.variants join catalog.products on products.id = variants.product_id
    where sku = any ($skus)`
})
