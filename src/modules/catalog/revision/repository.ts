import type { Queryable, Transaction } from '../../../platform/postgres.ts'
import { type RowOf, statement } from '../../../platform/statement.ts'

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
const listMispricedProducts = statement(
  'catalog.list_mispriced_products',
  { id: 'uuid' },
  `select products.id
   from catalog.products
   left join catalog.lowest_prices
     on lowest_prices.product_id = products.id and lowest_prices.currency = $1
   where products.lowest_price_minor is distinct from lowest_prices.lowest_price_minor`
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
  'update catalog.revision set value = value + 1, priced_at = now(), currency = $1'
)
const findRevision = statement(
  'catalog.find_revision',
  { value: 'int8', changes_in: 'float8?', is_mispriced: 'bool' },
  `select
     revision.value,
     extract(epoch from (
       select min(boundary) from (
         select starts_at as boundary from catalog.discounts where active
         union all
         select ends_at from catalog.discounts where active
       ) boundaries
       where boundary > statement_timestamp()
     ) - statement_timestamp())::float8 as changes_in,
     revision.currency <> $1 or exists (
       select from catalog.discounts
       where active and (
         (starts_at > revision.priced_at and starts_at <= statement_timestamp())
         or (ends_at > revision.priced_at and ends_at <= statement_timestamp())
       )
     ) as is_mispriced
   from catalog.revision`
)
/** `changes_in`: seconds to the next start or end of any discount. `is_mispriced`: one has passed unnoticed. */
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

export const listMispriced = async (db: Queryable, currency: string): Promise<string[]> =>
  (await db.query(listMispricedProducts, [currency])).map(({ id }) => id)

export const listVariants = async (tx: Transaction, productIds: readonly string[], limit: number) =>
  (await tx.query(listVariantIds, [productIds, limit])).map(({ id }) => id)

/** Locks the one row of it: to be called last. */
export async function bump(tx: Transaction): Promise<void> {
  await tx.query(bumpRevision, [])
}

/** All lowest prices hold for the time at which `tx` began. */
export async function markAllPriced(tx: Transaction, currency: string): Promise<void> {
  await tx.query(markPriced, [currency])
}

export async function find(db: Queryable, currency: string): Promise<RevisionRow> {
  const [row] = await db.query(findRevision, [currency])
  if (row === undefined) throw new Error('catalog.revision has lost its row')
  return row
}
