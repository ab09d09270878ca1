import type { Queryable, Transaction } from '../../../platform/postgres.ts'
import { type RowOf, statement } from '../../../platform/statement.ts'

const columns = `id uuid, product_id uuid, sku text, name text, price_minor bigint, sale_price_minor bigint,
  currency text, attributes jsonb, image_url text, weight_grams int, barcode text, active boolean, position int`

const findVariant = statement(
  'catalog.find_variant',
  {
    id: 'uuid',
    product_id: 'uuid',
    sku: 'text',
    name: 'text',
    price_minor: 'int8',
    sale_price_minor: 'int8?',
    currency: 'text',
    attributes: 'jsonb',
    image_url: 'text?',
    weight_grams: 'int4?',
    barcode: 'text?',
    active: 'bool',
    position: 'int4',
    version: 'int4'
  },
  `select
     variants.id, product_id, sku, variants.name, price_minor, sale_price_minor, currency, attributes, image_url,
     weight_grams, barcode, active, position, products.version
   from catalog.variants join catalog.products on products.id = variants.product_id
   where variants.id = $1 or sku = $2`
)
const countVariants = statement(
  'catalog.count_variants',
  { total: 'int4', last_position: 'int4' },
  `select count(*)::int as total, coalesce(max(position), 0) as last_position
   from catalog.variants where product_id = $1`
)
const insertVariants = statement(
  'catalog.insert_variants',
  {},
  `insert into catalog.variants (
     id, product_id, sku, name, price_minor, sale_price_minor, currency, attributes, image_url, weight_grams,
     barcode, active, position)
   select
     id, product_id, sku, name, price_minor, sale_price_minor, currency, attributes, image_url, weight_grams,
     barcode, active, position
   from jsonb_to_recordset($1::jsonb) as rows (${columns})`
)
const updateVariants = statement(
  'catalog.update_variants',
  {},
  `update catalog.variants set
     sku = rows.sku, name = rows.name, price_minor = rows.price_minor, sale_price_minor = rows.sale_price_minor,
     currency = rows.currency, attributes = rows.attributes, image_url = rows.image_url,
     weight_grams = rows.weight_grams, barcode = rows.barcode, active = rows.active, position = rows.position
   from jsonb_to_recordset($1::jsonb) as rows (${columns})
   where variants.id = rows.id`
)
const deleteVariant = statement('catalog.delete_variant', {}, 'delete from catalog.variants where id = $1')

/** With the version of the product that it belongs to. */
export type VariantDetail = RowOf<typeof findVariant>
export type VariantRow = Omit<VariantDetail, 'version' | 'attributes'> & {
  attributes: Record<string, string>
}

export const find = async (db: Queryable, key: { id?: string; sku?: string }) =>
  (await db.query(findVariant, [key.id ?? null, key.sku ?? null]))[0]

export async function count(
  db: Queryable,
  productId: string
): Promise<{ total: number; lastPosition: number }> {
  const [row] = await db.query(countVariants, [productId])
  return { total: row?.total ?? 0, lastPosition: row?.last_position ?? 0 }
}

export async function insert(tx: Transaction, rows: readonly VariantRow[]): Promise<void> {
  await tx.query(insertVariants, [JSON.stringify(rows)])
}

export async function update(tx: Transaction, rows: readonly VariantRow[]): Promise<void> {
  await tx.query(updateVariants, [JSON.stringify(rows)])
}

export async function remove(tx: Transaction, id: string): Promise<void> {
  await tx.query(deleteVariant, [id])
}
