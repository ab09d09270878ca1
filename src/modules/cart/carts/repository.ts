import { isEmptyMetadata, type Metadata } from '../../../kernel/metadata.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import { json, nullableJson, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import { type CartLine, type ChangedCartLines, countDistinctCartVariants } from './lines.ts'

/** A cart as it is stored, with its lines in the order in which they were added. */
export type StoredCart = {
  version: number
  updatedAt: Date | null
  lines: readonly CartLine[]
  metadata: Metadata
}
/** A cart and its id, which is the customer's id in a customer's cart. */
export type StoredCartWithId = StoredCart & { readonly cartId: string }
const NO_METADATA: Metadata = {}

/**
 * The lines of a cart, each row with the columns of the cart. Expiry is a change like any other. Until a transaction writes
 * it, reads return the next version, no lines and no metadata.
 */
export const selectCartLines = (
  columns: string,
  { source, condition } = { source: 'from cart.carts c', condition: 'c.cart_id = $cartId' }
) => `
    select c.version + (c.expires_at <= now() and c.quantity > 0)::int as version, c.updated_at,
      i.id, i.variant_id, i.quantity, i.metadata as line_metadata, ${columns}
    ${source} left join cart.items i on i.cart_id = c.cart_id and c.expires_at > now()
    where ${condition}
    order by i.added_at, i.id`
export const hasMetadataSql = "c.metadata <> '{}' as has_metadata"
export const cartLineColumns = {
  version: 'int4',
  updated_at: 'timestamptz',
  id: 'uuid?',
  variant_id: 'uuid?',
  quantity: 'int4?',
  line_metadata: nullableJson<Metadata>()
} as const
const findCartLines = statement({
  name: 'cart.find_cart_lines',
  takes: { cartId: 'uuid' },
  gives: { ...cartLineColumns, has_metadata: 'bool' },
  text: selectCartLines(hasMetadataSql)
})
/** For the few carts with metadata. The subquery alone would add a fifth to the cost of every other read (2026-11). */
const findCartLinesAndMetadata = statement({
  name: 'cart.find_cart_lines_and_metadata',
  takes: { cartId: 'uuid' },
  gives: { ...cartLineColumns, metadata: nullableJson<Metadata>() },
  text: selectCartLines(`case when c.expires_at > now() and i.id is not distinct from
        (select id from cart.items where cart_id = $cartId order by added_at, id limit 1)
        then c.metadata end as metadata`)
})
const countItems = statement({
  name: 'cart.count_items',
  takes: { cartId: 'uuid' },
  gives: { quantity: 'int4', distinct_count: 'int4' },
  text: 'select quantity, distinct_count from cart.carts where cart_id = $cartId and expires_at > now()'
})
const lockCart = statement({
  name: 'cart.lock_cart',
  takes: { cartId: 'uuid' },
  gives: { version: 'int4', updated_at: 'timestamptz', is_expired: 'bool', metadata: json<Metadata>() },
  text: `
    select version, updated_at, expires_at <= now() as is_expired, metadata
    from cart.carts where cart_id = $cartId for update`
})
const insertCart = statement({
  name: 'cart.insert_cart',
  takes: { cartId: 'uuid' },
  text: `
    insert into cart.carts (cart_id, expires_at) values ($cartId, 'infinity')
    on conflict (cart_id) do nothing`
})
const listLines = statement({
  name: 'cart.list_lines',
  takes: { cartId: 'uuid' },
  gives: { id: 'uuid', variant_id: 'uuid', quantity: 'int4', line_metadata: nullableJson<Metadata>() },
  text: `
    select id, variant_id, quantity, metadata as line_metadata from cart.items where cart_id = $cartId
    order by added_at, id`
})

const upsertLines = statement({
  name: 'cart.upsert_lines',
  takes: { cartId: 'uuid', ids: 'uuid[]', variantIds: 'uuid[]', quantities: 'int4[]', metadata: 'text[]' },
  text: `
    insert into cart.items (cart_id, id, variant_id, quantity, metadata)
    select $cartId, id, variant_id, quantity, nullif(metadata, '')::jsonb
    from unnest($ids::uuid[], $variantIds::uuid[], $quantities::int[], $metadata::text[])
      as line (id, variant_id, quantity, metadata)
    on conflict (cart_id, id) do update set quantity = excluded.quantity, metadata = excluded.metadata`
})
const deleteLines = statement({
  name: 'cart.delete_lines',
  takes: { cartId: 'uuid', ids: 'uuid[]' },
  text: 'delete from cart.items where cart_id = $cartId and id = any ($ids)'
})
// The expiry moves at most once per thirtieth of the idle time, because only that update changes an index.
export const cartVersionCountsAndExpirySql = `version = c.version + 1, updated_at = clock_timestamp(),
      quantity = changed.quantity, distinct_count = changed.distinct_count,
      expires_at = case
        when changed.idle_seconds is null then 'infinity'
        when c.expires_at between now() + make_interval(secs => changed.idle_seconds)
          and now() + make_interval(secs => changed.idle_seconds * 31 / 30) then c.expires_at
        else now() + make_interval(secs => changed.idle_seconds * 31 / 30)
      end`
const updateCart = statement({
  name: 'cart.update_cart',
  takes: { cartId: 'uuid', quantity: 'int4', distinctCount: 'int4', idleSeconds: 'float8?' },
  gives: { version: 'int4', updated_at: 'timestamptz' },
  text: `
    update cart.carts c set
      ${cartVersionCountsAndExpirySql}
    from (
      select $quantity::int as quantity, $distinctCount::int as distinct_count, $idleSeconds::float8 as idle_seconds
    ) changed
    where c.cart_id = $cartId
    returning c.version, c.updated_at`
})
const emptyCart = statement({
  name: 'cart.empty_cart',
  takes: { cartId: 'uuid' },
  gives: { version: 'int4', updated_at: 'timestamptz' },
  text: `
    with emptied as (delete from cart.items where cart_id = $cartId)
    update cart.carts set
      version = version + (quantity > 0)::int, quantity = 0, distinct_count = 0, metadata = '{}',
      expires_at = 'infinity'
    where cart_id = $cartId
    returning version, updated_at`
})
/**
 * Deletes the lines of expired carts of customers. The row of the cart stays, so that its version never
 * restarts.
 */
export const emptyExpiredCustomerCarts = statement({
  name: 'cart.empty_expired_carts',
  text: `
    with expired as (
      select c.cart_id from cart.carts c
      where c.expires_at <= now() and c.expires_at < 'infinity'
        and not exists (select from cart.guest_carts g where g.cart_id = c.cart_id)
      limit 500 for update of c skip locked
    ), emptied as (
      delete from cart.items where cart_id in (select cart_id from expired)
    )
    update cart.carts set
      version = version + (quantity > 0)::int, quantity = 0, distinct_count = 0, metadata = '{}',
      expires_at = 'infinity'
    where cart_id in (select cart_id from expired)`
})

export const findCart = async (db: Queryable, cartId: string): Promise<StoredCartWithId> =>
  storedCartOf(db, cartId, await db.rows(findCartLines, { cartId }))

/** Returns the cart of these rows. Costs one more statement for a cart with metadata. */
export async function storedCartOf(
  db: Queryable,
  cartId: string,
  rows: readonly RowOf<typeof findCartLines>[]
): Promise<StoredCartWithId> {
  if (rows[0]?.has_metadata !== true) return { cartId, ...cartOf(rows), metadata: NO_METADATA }
  // Reads the lines again, so that they and the metadata are those of one version.
  const rowsWithMetadata = await db.rows(findCartLinesAndMetadata, { cartId })
  return { cartId, ...cartOf(rowsWithMetadata), metadata: rowsWithMetadata[0]?.metadata ?? NO_METADATA }
}

function cartOf(rows: readonly Omit<RowOf<typeof findCartLines>, 'has_metadata'>[]): CartAfterLineChange {
  const lines: CartLine[] = []
  for (const { id, variant_id, quantity, line_metadata } of rows) {
    if (id !== null && variant_id !== null && quantity !== null)
      lines.push(cartLineOf({ id, variant_id, quantity, line_metadata }))
  }
  const { version = 0, updated_at: updatedAt = null } = rows[0] ?? {}
  return { version, updatedAt, lines }
}

export async function countCartItems(
  db: Queryable,
  cartId: string
): Promise<{ count: number; distinct_count: number }> {
  const cart = await db.first(countItems, { cartId })
  return { count: cart?.quantity ?? 0, distinct_count: cart?.distinct_count ?? 0 }
}

/**
 * Locks the cart until the transaction ends. Creates it when it does not exist, and empties it when it
 * expired.
 */
export async function lockOrCreateCart(tx: Transaction, cartId: string): Promise<StoredCart> {
  const locked = await lockExisting(tx, cartId)
  if (locked !== undefined) return locked
  await tx.run(insertCart, { cartId })
  const made = await lockExisting(tx, cartId)
  if (made === undefined) throw new Error('a cart that this transaction created does not exist')
  return made
}

async function lockExisting(tx: Transaction, cartId: string): Promise<StoredCart | undefined> {
  // Both statements are sent at the same time to save a round trip. PostgreSQL runs the second after the lock
  // is held.
  const [cart, rows] = await Promise.all([tx.first(lockCart, { cartId }), tx.rows(listLines, { cartId })])
  if (cart === undefined) return undefined
  if (cart.is_expired)
    return { ...cartVersionOf(await tx.first(emptyCart, { cartId })), lines: [], metadata: NO_METADATA }
  return { ...cartVersionOf(cart), lines: rows.map(cartLineOf), metadata: cart.metadata }
}

const cartLineOf = ({ id, variant_id, quantity, line_metadata }: RowOf<typeof listLines>): CartLine => ({
  id,
  variantId: variant_id,
  quantity,
  metadata: line_metadata ?? NO_METADATA
})

/** A cart after a change of its lines, which leaves its metadata as it is. */
export type CartAfterLineChange = Omit<StoredCart, 'metadata'>

/**
 * Writes a change of a locked cart, with its sums and next version, in one round trip. `idleSeconds`: seconds
 * without a change after which the cart expires; `null` for never.
 */
export async function saveCart(
  tx: Transaction,
  cartId: string,
  { lines, set, removed }: ChangedCartLines,
  idleSeconds: number | null
): Promise<CartAfterLineChange> {
  const sums = countCartUnitsAndVariants(lines)
  const [updated] = await Promise.all([
    tx.first(updateCart, { cartId, ...sums, idleSeconds }),
    set.length > 0 &&
      tx.run(upsertLines, {
        cartId,
        ids: set.map(line => line.id),
        variantIds: set.map(line => line.variantId),
        quantities: set.map(line => line.quantity),
        metadata: set.map(cartLineMetadataJson)
      }),
    removed.length > 0 && tx.run(deleteLines, { cartId, ids: removed })
  ])
  return { ...cartVersionOf(updated), lines }
}

export const countCartUnitsAndVariants = (lines: readonly CartLine[]) => ({
  quantity: lines.reduce((sum, line) => sum + line.quantity, 0),
  distinctCount: countDistinctCartVariants(lines)
})

/** The metadata of a line as JSON text; empty for none, because the column is null then. */
export const cartLineMetadataJson = ({ metadata }: Pick<CartLine, 'metadata'>): string =>
  isEmptyMetadata(metadata) ? '' : JSON.stringify(metadata)

export function cartVersionOf(cart: { version: number; updated_at: Date } | undefined) {
  if (cart === undefined) throw new Error('a locked cart does not exist')
  return { version: cart.version, updatedAt: cart.updated_at }
}
