import type { Queryable, Transaction } from '../../../platform/postgres.ts'
import { type RowOf, slowStatement, statement } from '../../../platform/statement.ts'

const lockProducts = statement(
  'catalog.lock_products',
  { id: 'uuid' },
  'select id from catalog.products where id = any ($1) order by id for update'
)
const lockFreeProducts = statement(
  'catalog.lock_free_products',
  { id: 'uuid' },
  'select id from catalog.products where id = any ($1) order by id for update skip locked'
)
const repriceProducts = statement(
  'catalog.reprice_products',
  {},
  `update catalog.products set lowest_price_minor = priced.lowest_price_minor
   from (
     select products.id, lowest_prices.lowest_price_minor
     from catalog.products
     left join catalog.lowest_prices
       on lowest_prices.product_id = products.id and lowest_prices.currency = $2
       and lowest_prices.product_id = any ($1)
     where products.id = any ($1)
   ) priced
   where products.id = priced.id and products.lowest_price_minor is distinct from priced.lowest_price_minor`
)
const listMispricedProducts = slowStatement(
  'catalog.list_mispriced_products',
  { id: 'uuid' },
  `select products.id
   from catalog.products
   left join catalog.lowest_prices
     on lowest_prices.product_id = products.id and lowest_prices.currency = $2
     and lowest_prices.product_id = any ($1)
   where products.id = any ($1)
     and products.lowest_price_minor is distinct from lowest_prices.lowest_price_minor`
)
const listProductIds = statement(
  'catalog.list_product_ids',
  { id: 'uuid' },
  'select id from catalog.products where id > $1 order by id limit $2'
)
const listDueProducts = statement(
  'catalog.list_due_products',
  { product_id: 'uuid' },
  `with due as (
     select discounts.product_id, discounts.variant_id, discounts.category_id
     from catalog.discounts cross join catalog.revision
     where discounts.active and (
       (starts_at > priced_at and starts_at <= statement_timestamp())
       or (ends_at > priced_at and ends_at <= statement_timestamp()))
   )
   select product_id from due where product_id is not null
   union
   select variants.product_id from due join catalog.variants on variants.id = due.variant_id
   union
   select product_categories.product_id from due
   join catalog.categories on categories.path @> array[due.category_id]
   join catalog.product_categories on product_categories.category_id = categories.id
   limit $1`
)
const listVariantIds = statement(
  'catalog.list_variant_ids',
  { id: 'uuid' },
  'select id from catalog.variants where product_id = any ($1) limit $2'
)
const bumpRevision = statement('catalog.bump_revision', {}, 'update catalog.revision set value = value + 1')
const markPriced = statement(
  'catalog.mark_priced',
  {},
  'update catalog.revision set value = value + 1, priced_at = now()'
)
const findRevision = statement(
  'catalog.find_revision',
  { shop_id: 'uuid', value: 'int8', changes_in: 'float8?', is_due: 'bool' },
  `select
     revision.shop_id,
     revision.value,
     extract(epoch from (
       select min(boundary) from (
         select starts_at as boundary from catalog.discounts where active
         union all
         select ends_at from catalog.discounts where active
       ) boundaries
       where boundary > statement_timestamp()
     ) - statement_timestamp())::float8 as changes_in,
     exists (
       select from catalog.discounts
       where active and (
         (starts_at > revision.priced_at and starts_at <= statement_timestamp())
         or (ends_at > revision.priced_at and ends_at <= statement_timestamp())
       )
     ) as is_due
   from catalog.revision`
)
/** `changes_in`: seconds to the next start or end of any discount. `is_due`: one has passed that nobody has noted. */
export type RevisionRow = RowOf<typeof findRevision>

/** Locks these products, always in the same order: whoever computes their prices next sees all that was written. */
export async function lock(tx: Transaction, productIds: readonly string[]): Promise<void> {
  await tx.query(lockProducts, [productIds])
}

/** Locks those of these products that nobody else is changing, and answers which. */
export const lockFree = async (tx: Transaction, productIds: readonly string[]): Promise<string[]> =>
  (await tx.query(lockFreeProducts, [productIds])).map(({ id }) => id)

/** Brings the lowest prices of these (locked) products up to date. */
export async function reprice(
  tx: Transaction,
  productIds: readonly string[],
  currency: string
): Promise<void> {
  await tx.query(repriceProducts, [productIds, currency])
}

/** Those of these products whose lowest price is not up to date. */
export const listMispriced = async (
  db: Queryable,
  productIds: readonly string[],
  currency: string
): Promise<string[]> => (await db.query(listMispricedProducts, [productIds, currency])).map(({ id }) => id)

export const listProducts = async (db: Queryable, afterId: string, limit: number): Promise<string[]> =>
  (await db.query(listProductIds, [afterId, limit])).map(({ id }) => id)

/** Products that a discount concerns whose start or end has passed and is not noted yet. */
export const listDue = async (tx: Transaction, limit: number): Promise<string[]> =>
  (await tx.query(listDueProducts, [limit])).map(row => row.product_id)

export const listVariants = async (tx: Transaction, productIds: readonly string[], limit: number) =>
  (await tx.query(listVariantIds, [productIds, limit])).map(({ id }) => id)

/** Locks the one row of it: to be called last. */
export async function bump(tx: Transaction): Promise<void> {
  await tx.query(bumpRevision, [])
}

/** Notes that all starts and ends of discounts before `tx` began have been seen to. Locks like `bump`. */
export async function markAllPriced(tx: Transaction): Promise<void> {
  await tx.query(markPriced, [])
}

export async function find(db: Queryable): Promise<RevisionRow> {
  const [row] = await db.query(findRevision, [])
  if (row === undefined) throw new Error('catalog.revision has lost its row')
  return row
}
