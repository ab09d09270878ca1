import type { Metadata } from '../../../kernel/metadata.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import { json, nullableJson, statement } from '../../../platform/postgres/statement.ts'
import type { CartLine, CartLineChanges } from './lines.ts'

/** A cart as it is stored, with its lines in the order in which they were added. */
export type StoredCart = {
  version: number
  updatedAt: Date | null
  lines: readonly CartLine[]
  metadata: Metadata
}
const NO_METADATA: Metadata = {}

// Expiry is a change like any other. Until a transaction writes it, reads return the next version, no lines
// and no metadata. Only the first row has the metadata; others cost nothing, unlike with a window function.
const findCartLines = statement({
  name: 'cart.find_cart_lines',
  takes: { cartId: 'uuid' },
  gives: {
    version: 'int4',
    updated_at: 'timestamptz',
    variant_id: 'uuid?',
    quantity: 'int4?',
    metadata: nullableJson<Metadata>()
  },
  text: `
    select c.version + (c.expires_at <= now() and c.quantity > 0)::int as version, c.updated_at,
      i.variant_id, i.quantity,
      case when c.metadata <> '{}' then case when c.expires_at > now() and i.variant_id is not distinct from
        (select variant_id from cart.items where cart_id = $cartId order by added_at, variant_id limit 1)
        then c.metadata end end as metadata
    from cart.carts c left join cart.items i on i.cart_id = c.cart_id and c.expires_at > now()
    where c.cart_id = $cartId
    order by i.added_at, i.variant_id`
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
  gives: { variant_id: 'uuid', quantity: 'int4' },
  text: 'select variant_id, quantity from cart.items where cart_id = $cartId order by added_at, variant_id'
})
const upsertLines = statement({
  name: 'cart.upsert_lines',
  takes: { cartId: 'uuid', variantIds: 'uuid[]', quantities: 'int4[]' },
  text: `
    insert into cart.items (cart_id, variant_id, quantity)
    select $cartId, variant_id, quantity
    from unnest($variantIds::uuid[], $quantities::int[]) as line (variant_id, quantity)
    on conflict (cart_id, variant_id) do update set quantity = excluded.quantity`
})
const deleteLines = statement({
  name: 'cart.delete_lines',
  takes: { cartId: 'uuid', variantIds: 'uuid[]' },
  text: 'delete from cart.items where cart_id = $cartId and variant_id = any ($variantIds)'
})
// The expiry moves at most once per thirtieth of the idle time, because only that update changes an index.
const nextVersionSql = `version = c.version + 1, updated_at = clock_timestamp(),
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
      ${nextVersionSql}
    from (
      select $quantity::int as quantity, $distinctCount::int as distinct_count, $idleSeconds::float8 as idle_seconds
    ) changed
    where c.cart_id = $cartId
    returning c.version, c.updated_at`
})
// Writes each cart completely or not at all. It never waits: carts that another transaction has locked or
// changed are skipped.
const saveUnchangedCarts = statement({
  name: 'cart.save_unchanged_carts',
  takes: {
    cartIds: 'uuid[]',
    versions: 'int4[]',
    quantities: 'int4[]',
    distinctCounts: 'int4[]',
    idleSeconds: 'float8[]',
    setCartIds: 'uuid[]',
    setVariantIds: 'uuid[]',
    setQuantities: 'int4[]',
    removedCartIds: 'uuid[]',
    removedVariantIds: 'uuid[]'
  },
  gives: { cart_id: 'uuid', version: 'int4', updated_at: 'timestamptz' },
  text: `
    with changed as (
      select c.cart_id, change.quantity, change.distinct_count, change.idle_seconds
      from unnest($cartIds::uuid[], $versions::int[], $quantities::int[], $distinctCounts::int[], $idleSeconds::float8[])
        as change (cart_id, version, quantity, distinct_count, idle_seconds)
      join cart.carts c on c.cart_id = change.cart_id and c.version = change.version and c.expires_at > now()
      where c.cart_id = any ($cartIds)
      for update of c skip locked
    ), updated as (
      update cart.carts c set
      ${nextVersionSql}
      from changed where c.cart_id = any ($cartIds) and c.cart_id = changed.cart_id
      returning c.cart_id, c.version, c.updated_at
    ), upserted as (
      insert into cart.items (cart_id, variant_id, quantity)
      select line.cart_id, line.variant_id, line.quantity
      from unnest($setCartIds::uuid[], $setVariantIds::uuid[], $setQuantities::int[])
        as line (cart_id, variant_id, quantity)
      join updated on updated.cart_id = line.cart_id
      on conflict (cart_id, variant_id) do update set quantity = excluded.quantity
    ), deleted as (
      delete from cart.items i
      using unnest($removedCartIds::uuid[], $removedVariantIds::uuid[]) as gone (cart_id, variant_id)
      join updated on updated.cart_id = gone.cart_id
      where i.cart_id = gone.cart_id and i.variant_id = gone.variant_id
    )
    select cart_id, version, updated_at from updated`
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
export const emptyExpiredCarts = statement({
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

export async function findCart(db: Queryable, cartId: string): Promise<StoredCart> {
  const rows = await db.rows(findCartLines, { cartId })
  const lines: CartLine[] = []
  for (const { variant_id, quantity } of rows) {
    if (variant_id !== null && quantity !== null) lines.push({ variantId: variant_id, quantity })
  }
  const [first] = rows
  const { version = 0, updated_at: updatedAt = null, metadata } = first ?? {}
  return { version, updatedAt, lines, metadata: metadata ?? NO_METADATA }
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
    return { ...versionOf(await tx.first(emptyCart, { cartId })), lines: [], metadata: NO_METADATA }
  const lines = rows.map(row => ({ variantId: row.variant_id, quantity: row.quantity }))
  return { ...versionOf(cart), lines, metadata: cart.metadata }
}

/** A cart after a change of its lines, which leaves its metadata as it is. */
export type SavedLines = Omit<StoredCart, 'metadata'>

/**
 * Writes a change of a locked cart, with its sums and next version, in one round trip. `idleSeconds`: seconds
 * without a change after which the cart expires; `null` for never.
 */
export async function saveCart(
  tx: Transaction,
  cartId: string,
  { lines, set, removed }: CartLineChanges,
  idleSeconds: number | null
): Promise<SavedLines> {
  const sums = sumsOf(lines)
  const [updated] = await Promise.all([
    tx.first(updateCart, { cartId, ...sums, idleSeconds }),
    set.length > 0 &&
      tx.run(upsertLines, {
        cartId,
        variantIds: set.map(line => line.variantId),
        quantities: set.map(line => line.quantity)
      }),
    removed.length > 0 && tx.run(deleteLines, { cartId, variantIds: removed })
  ])
  return { ...versionOf(updated), lines }
}

/** A change that was decided without a lock, for this version of a cart. */
export type OptimisticCartChange = {
  cartId: string
  version: number
  change: CartLineChanges
  idleSeconds: number | null
}

/**
 * Writes changes of carts without a lock, at most one change per cart. Returns the carts in the order of
 * `changes`. Returns `undefined` for a cart that has changed since or that another transaction has locked,
 * and writes nothing of it.
 */
export async function saveCartsIfUnchanged(
  db: Queryable,
  changes: readonly OptimisticCartChange[]
): Promise<(SavedLines | undefined)[]> {
  const sums = changes.map(({ change }) => sumsOf(change.lines))
  const set = changes.flatMap(({ cartId, change }) => change.set.map(line => ({ cartId, ...line })))
  const removed = changes.flatMap(({ cartId, change }) =>
    change.removed.map(variantId => ({ cartId, variantId }))
  )
  const rows = await db.rows(saveUnchangedCarts, {
    cartIds: changes.map(({ cartId }) => cartId),
    versions: changes.map(({ version }) => version),
    quantities: sums.map(({ quantity }) => quantity),
    distinctCounts: sums.map(({ distinctCount }) => distinctCount),
    idleSeconds: changes.map(({ idleSeconds }) => idleSeconds),
    setCartIds: set.map(({ cartId }) => cartId),
    setVariantIds: set.map(({ variantId }) => variantId),
    setQuantities: set.map(({ quantity }) => quantity),
    removedCartIds: removed.map(({ cartId }) => cartId),
    removedVariantIds: removed.map(({ variantId }) => variantId)
  })
  const updated = new Map(rows.map(row => [row.cart_id, row]))
  return changes.map(({ cartId, change }) => {
    const row = updated.get(cartId)
    return row && { ...versionOf(row), lines: change.lines }
  })
}

const sumsOf = (lines: readonly CartLine[]) => ({
  quantity: lines.reduce((sum, line) => sum + line.quantity, 0),
  distinctCount: lines.length
})

function versionOf(cart: { version: number; updated_at: Date } | undefined) {
  if (cart === undefined) throw new Error('a locked cart does not exist')
  return { version: cart.version, updatedAt: cart.updated_at }
}
