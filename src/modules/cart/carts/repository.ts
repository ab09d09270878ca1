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
const nextVersion = `version = c.version + 1, updated_at = clock_timestamp(),
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
      ${nextVersion}
    from (
      select $quantity::int as quantity, $distinctCount::int as distinct_count, $idleSeconds::float8 as idle_seconds
    ) changed
    where c.cart_id = $cartId
    returning c.version, c.updated_at`
})
// All of a cart or nothing of it. It waits for nobody: what others hold is left alone, like what they have changed.
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
      ${nextVersion}
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

/** What was decided about a cart that was read in this version, and that nobody holds. */
export type UnheldChange = { cartId: string; version: number; change: LineChange; idleSeconds: number | null }

/**
 * The same for carts, each of them once, that nobody holds. In their order; `undefined`, and nothing of it is written,
 * where a cart has changed since, or where somebody holds it.
 */
export async function saveUnchanged(
  db: Queryable,
  changes: readonly UnheldChange[]
): Promise<(StoredCart | undefined)[]> {
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

const sumsOf = (lines: readonly Line[]) => ({
  quantity: lines.reduce((sum, line) => sum + line.quantity, 0),
  distinctCount: lines.length
})

function versionOf(cart: { version: number; updated_at: Date } | undefined) {
  if (cart === undefined) throw new Error('a cart that was locked is gone')
  return { version: cart.version, updatedAt: cart.updated_at }
}
