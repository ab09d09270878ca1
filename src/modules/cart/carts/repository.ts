import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import { statement } from '../../../platform/postgres/statement.ts'
import type { Line, LineChange } from './lines.ts'

/** A cart as it is stored, its lines in the order in which they were added. */
export type StoredCart = { version: number; updatedAt: Date | null; lines: readonly Line[] }

// To expire is a change like any other: until somebody writes it down, the version reads one higher.
const findCartLines = statement({
  name: 'cart.find_cart_lines',
  takes: { cartId: 'uuid' },
  gives: { version: 'int4', updated_at: 'timestamptz', variant_id: 'uuid?', quantity: 'int4?' },
  text: `
    select c.version + (c.expires_at <= now() and c.quantity > 0)::int as version, c.updated_at,
      i.variant_id, i.quantity
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
  gives: { version: 'int4', updated_at: 'timestamptz', is_expired: 'bool' },
  text: `
    select version, updated_at, expires_at <= now() as is_expired
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
// The expiry is put off at most once in a thirtieth of its time, because that alone changes an index.
const nextVersion = `version = version + 1, updated_at = clock_timestamp(), quantity = $quantity, distinct_count = $distinctCount,
      expires_at = case
        when $idleSeconds::float8 is null then 'infinity'
        when expires_at between now() + make_interval(secs => $idleSeconds)
          and now() + make_interval(secs => $idleSeconds * 31 / 30) then expires_at
        else now() + make_interval(secs => $idleSeconds * 31 / 30)
      end`
const updateCart = statement({
  name: 'cart.update_cart',
  takes: { cartId: 'uuid', quantity: 'int4', distinctCount: 'int4', idleSeconds: 'float8?' },
  gives: { version: 'int4', updated_at: 'timestamptz' },
  text: `
    update cart.carts set
      ${nextVersion}
    where cart_id = $cartId
    returning version, updated_at`
})
// All of it or nothing: whoever comes behind another change waits for its commit, finds another version, and changes nothing.
const saveUnchangedCart = statement({
  name: 'cart.save_unchanged_cart',
  takes: {
    cartId: 'uuid',
    version: 'int4',
    quantity: 'int4',
    distinctCount: 'int4',
    idleSeconds: 'float8?',
    variantIds: 'uuid[]',
    quantities: 'int4[]',
    removed: 'uuid[]'
  },
  gives: { version: 'int4', updated_at: 'timestamptz' },
  text: `
    with updated as (
      update cart.carts set
      ${nextVersion}
      where cart_id = $cartId and version = $version and expires_at > now()
      returning cart_id, version, updated_at
    ), upserted as (
      insert into cart.items (cart_id, variant_id, quantity)
      select updated.cart_id, line.variant_id, line.quantity
      from updated cross join unnest($variantIds::uuid[], $quantities::int[]) as line (variant_id, quantity)
      on conflict (cart_id, variant_id) do update set quantity = excluded.quantity
    ), deleted as (
      delete from cart.items using updated
      where items.cart_id = updated.cart_id and items.variant_id = any ($removed)
    )
    select version, updated_at from updated`
})
const emptyCart = statement({
  name: 'cart.empty_cart',
  takes: { cartId: 'uuid' },
  gives: { version: 'int4', updated_at: 'timestamptz' },
  text: `
    with emptied as (delete from cart.items where cart_id = $cartId)
    update cart.carts set
      version = version + (quantity > 0)::int, quantity = 0, distinct_count = 0, expires_at = 'infinity'
    where cart_id = $cartId
    returning version, updated_at`
})
/** A customer's row stays, so that versions never start again; what expired are its lines. */
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
      version = version + (quantity > 0)::int, quantity = 0, distinct_count = 0, expires_at = 'infinity'
    where cart_id in (select cart_id from expired)`
})

export async function findCart(db: Queryable, cartId: string): Promise<StoredCart> {
  const rows = await db.rows(findCartLines, { cartId })
  const lines: Line[] = []
  for (const { variant_id, quantity } of rows) {
    if (variant_id !== null && quantity !== null) lines.push({ variantId: variant_id, quantity })
  }
  return { version: rows[0]?.version ?? 0, updatedAt: rows[0]?.updated_at ?? null, lines }
}

export async function count(
  db: Queryable,
  cartId: string
): Promise<{ count: number; distinct_count: number }> {
  const cart = await db.first(countItems, { cartId })
  return { count: cart?.quantity ?? 0, distinct_count: cart?.distinct_count ?? 0 }
}

/** Locks the cart until the end of the transaction, making it when there is none. An expired one is emptied. */
export async function lock(tx: Transaction, cartId: string): Promise<StoredCart> {
  const locked = await lockPresent(tx, cartId)
  if (locked !== undefined) return locked
  await tx.run(insertCart, { cartId })
  const made = await lockPresent(tx, cartId)
  if (made === undefined) throw new Error('a cart that was just made is gone')
  return made
}

async function lockPresent(tx: Transaction, cartId: string): Promise<StoredCart | undefined> {
  // Sent together: the lines are read when the lock is held, one round trip earlier.
  const [cart, rows] = await Promise.all([tx.first(lockCart, { cartId }), tx.rows(listLines, { cartId })])
  if (cart === undefined) return undefined
  if (cart.is_expired) return { ...versionOf(await tx.first(emptyCart, { cartId })), lines: [] }
  const lines = rows.map(row => ({ variantId: row.variant_id, quantity: row.quantity }))
  return { ...versionOf(cart), lines }
}

/**
 * Writes what changed of a locked cart, with its sums and its next version. `idleSeconds`: after which time without a
 * change it expires; `null` for never. All that is sent together, in one round trip.
 */
export async function save(
  tx: Transaction,
  cartId: string,
  { lines, set, removed }: LineChange,
  idleSeconds: number | null
): Promise<StoredCart> {
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

/** The same for a cart that was read, and that nobody holds; `undefined`, and nothing is written, when it has changed since. */
export async function saveUnchanged(
  tx: Transaction,
  { id, version }: { id: string; version: number },
  { lines, set, removed }: LineChange,
  idleSeconds: number | null
): Promise<StoredCart | undefined> {
  const updated = await tx.first(saveUnchangedCart, {
    cartId: id,
    version,
    ...sumsOf(lines),
    idleSeconds,
    variantIds: set.map(line => line.variantId),
    quantities: set.map(line => line.quantity),
    removed
  })
  return updated && { ...versionOf(updated), lines }
}

const sumsOf = (lines: readonly Line[]) => ({
  quantity: lines.reduce((sum, line) => sum + line.quantity, 0),
  distinctCount: lines.length
})

function versionOf(cart: { version: number; updated_at: Date } | undefined) {
  if (cart === undefined) throw new Error('a cart that was locked is gone')
  return { version: cart.version, updatedAt: cart.updated_at }
}
