import type { Queryable, Transaction } from '../../../platform/postgres.ts'
import { type RowOf, statement } from '../../../platform/statement.ts'

const columns = {
  id: 'uuid',
  name: 'text',
  percentage_ppm: 'int4?',
  amount_minor: 'int8?',
  currency: 'text',
  product_id: 'uuid?',
  variant_id: 'uuid?',
  category_id: 'uuid?',
  starts_at: 'timestamptz',
  ends_at: 'timestamptz?',
  active: 'bool',
  created_at: 'timestamptz'
} as const
const names = Object.keys(columns).join(', ')

const listDiscounts = statement(
  'catalog.list_discounts',
  columns,
  `select ${names} from catalog.discounts where id < $1 order by id desc limit $2`
)
const countDiscounts = statement(
  'catalog.count_discounts',
  { total: 'int4' },
  'select count(*)::int as total from catalog.discounts'
)
const findDiscount = statement(
  'catalog.find_discount',
  columns,
  `select ${names} from catalog.discounts where id = $1`
)
const lockDiscount = statement(
  'catalog.lock_discount',
  columns,
  `select ${names} from catalog.discounts where id = $1 for update`
)
const insertDiscount = statement(
  'catalog.insert_discount',
  {},
  `insert into catalog.discounts (
     id, name, percentage_ppm, amount_minor, currency, product_id, variant_id, category_id, starts_at, ends_at, active)
   values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, now()), $10, $11)`
)
const updateDiscount = statement(
  'catalog.update_discount',
  {},
  `update catalog.discounts set
     name = $2, starts_at = $3, ends_at = $4, active = $5, percentage_ppm = $6, amount_minor = $7, currency = $8
   where id = $1`
)
const deleteDiscount = statement('catalog.delete_discount', {}, 'delete from catalog.discounts where id = $1')
const listProducts = statement(
  'catalog.list_discounted_products',
  { product_id: 'uuid' },
  `select product_id from catalog.discounts where id = $1 and product_id is not null
   union
   select variants.product_id from catalog.discounts
   join catalog.variants on variants.id = discounts.variant_id where discounts.id = $1
   union
   select product_categories.product_id from catalog.discounts
   join catalog.categories on categories.path @> array[discounts.category_id]
   join catalog.product_categories on product_categories.category_id = categories.id
   where discounts.id = $1
   limit $2`
)

export type DiscountRow = RowOf<typeof findDiscount>
/** `starts_at`: `null` for now. */
export type NewDiscount = Omit<DiscountRow, 'created_at' | 'starts_at'> & { starts_at: Date | null }

export const list = (db: Queryable, after: string, limit: number): Promise<DiscountRow[]> =>
  db.query(listDiscounts, [after, limit])

export async function count(db: Queryable): Promise<number> {
  const [row] = await db.query(countDiscounts, [])
  return row?.total ?? 0
}

export const find = async (db: Queryable, id: string) => (await db.query(findDiscount, [id]))[0]

/** Holds it until `tx` ends. */
export const lock = async (tx: Transaction, id: string) => (await tx.query(lockDiscount, [id]))[0]

export async function insert(tx: Transaction, row: NewDiscount): Promise<void> {
  const { id, name, percentage_ppm, amount_minor, currency, product_id, variant_id, category_id } = row
  const target = [product_id, variant_id, category_id]
  await tx.query(insertDiscount, [
    ...[id, name, percentage_ppm, amount_minor, currency],
    ...target,
    ...[row.starts_at, row.ends_at, row.active]
  ])
}

export async function update(tx: Transaction, row: DiscountRow): Promise<void> {
  const { id, name, starts_at, ends_at, active, percentage_ppm, amount_minor, currency } = row
  await tx.query(updateDiscount, [
    ...[id, name, starts_at, ends_at, active],
    ...[percentage_ppm, amount_minor, currency]
  ])
}

export async function remove(tx: Transaction, id: string): Promise<void> {
  await tx.query(deleteDiscount, [id])
}

/** The products that it concerns, now or later, up to `limit`. */
export const listProductIds = async (tx: Transaction, id: string, limit: number): Promise<string[]> =>
  (await tx.query(listProducts, [id, limit])).map(row => row.product_id)
