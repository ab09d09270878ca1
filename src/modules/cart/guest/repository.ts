import type { Queryable } from '../../../platform/postgres/database.ts'
import { statement } from '../../../platform/postgres/statement.ts'
import type { CartLine } from '../carts/lines.ts'
import {
  type CartAfterLineChange,
  cartLineColumns,
  cartLineMetadataJson,
  cartVersionOf,
  hasMetadataSql,
  type StoredCartWithId,
  selectCartLines,
  storedCartOf
} from '../carts/repository.ts'

const openGuestCart = {
  source: 'from cart.guest_carts g join cart.carts c on c.cart_id = g.cart_id',
  condition: 'g.token_hash = $tokenHash and g.merged_into is null and c.expires_at > now()'
}
const findGuestCartLines = statement({
  name: 'cart.find_guest_cart',
  takes: { tokenHash: 'bytea' },
  gives: { ...cartLineColumns, has_metadata: 'bool', cart_id: 'uuid', is_returning: 'bool' },
  text: selectCartLines(
    `${hasMetadataSql}, g.cart_id,
      c.version = 1 and g.created_at <= now() - interval '1 hour' and c.expires_at <= now() + interval '1 day'
        as is_returning`,
    openGuestCart
  )
})
export const countGuestCartItems = statement({
  name: 'cart.count_guest_items',
  takes: { tokenHash: 'bytea' },
  gives: { count: 'int4', distinct_count: 'int4' },
  text: `
    select c.quantity as count, c.distinct_count ${openGuestCart.source} where ${openGuestCart.condition}`
})
export const findMergedCustomerId = statement({
  name: 'cart.find_merged_into',
  takes: { tokenHash: 'bytea' },
  gives: { merged_into: 'uuid?' },
  text: 'select merged_into from cart.guest_carts where token_hash = $tokenHash'
})
/** Extends a cart with its first line only to the full idle time, because its guest came back. */
export const extendUnchangedGuestCart = statement({
  name: 'cart.keep_guest_cart',
  takes: { cartId: 'uuid', idleSeconds: 'float8' },
  text: `
    update cart.carts set expires_at = now() + make_interval(secs => $idleSeconds)
    where cart_id = $cartId and version = 1 and expires_at > now()`
})
export const findGuestCartTokenHash = statement({
  name: 'cart.find_guest_token_hash',
  takes: { cartId: 'uuid' },
  gives: { token_hash: 'bytea' },
  text: 'select token_hash from cart.guest_carts where cart_id = $cartId'
})
// Locks the row of the token, not the cart, so that changes and merges of one guest cart are serialized.
export const lockGuestCart = statement({
  name: 'cart.lock_guest_cart',
  takes: { tokenHash: 'bytea' },
  gives: { cart_id: 'uuid', merged_into: 'uuid?', is_expired: 'bool' },
  text: `
    select cart_id, merged_into,
      coalesce((select c.expires_at <= now() from cart.carts c where c.cart_id = g.cart_id), true) as is_expired
    from cart.guest_carts g where token_hash = $tokenHash for update`
})
const insertNewGuestCarts = statement({
  name: 'cart.insert_guest_carts',
  takes: {
    tokenHashes: 'bytea[]',
    cartIds: 'uuid[]',
    idleSeconds: 'float8',
    ids: 'uuid[]',
    variantIds: 'uuid[]',
    quantities: 'int4[]',
    metadata: 'text[]'
  },
  gives: { cart_id: 'uuid', version: 'int4', updated_at: 'timestamptz' },
  text: `
    with new as materialized (
      select * from unnest(
        $tokenHashes::bytea[], $cartIds::uuid[], $ids::uuid[], $variantIds::uuid[], $quantities::int[], $metadata::text[]
      ) as cart (token_hash, cart_id, id, variant_id, quantity, metadata)
    ), guests as (
      insert into cart.guest_carts (token_hash, cart_id) select token_hash, cart_id from new
    ), lines as (
      insert into cart.items (cart_id, id, variant_id, quantity, metadata)
      select cart_id, id, variant_id, quantity, nullif(metadata, '')::jsonb from new
    )
    insert into cart.carts (cart_id, version, quantity, distinct_count, updated_at, expires_at)
    select cart_id, 1, quantity, 1, clock_timestamp(), now() + make_interval(secs => $idleSeconds) from new
    returning cart_id, version, updated_at`
})
export const markGuestCartMerged = statement({
  name: 'cart.mark_guest_cart_merged',
  takes: { tokenHash: 'bytea', customerId: 'uuid' },
  text: `
    update cart.guest_carts set merged_into = $customerId, merged_at = now() where token_hash = $tokenHash`
})
export const deleteGuestCart = statement({
  name: 'cart.delete_guest_cart',
  takes: { cartId: 'uuid' },
  text: 'delete from cart.carts where cart_id = $cartId'
})
/**
 * Deletes expired guest carts, and records of merges that are too old to be repeated. `for update` also locks
 * the cart, so that its expiry is checked again when the guest changed the cart at the same time.
 */
export const deleteExpiredGuestCarts = statement({
  name: 'cart.delete_expired_guest_carts',
  takes: { keepMergedSeconds: 'float8' },
  text: `
    with expired as (
      select g.token_hash, g.cart_id from cart.carts c join cart.guest_carts g on g.cart_id = c.cart_id
      where c.expires_at <= now() and c.expires_at < 'infinity' and g.merged_at is null
      limit 500 for update skip locked
    ), forgotten as (
      select token_hash from cart.guest_carts
      where merged_at <= now() - make_interval(secs => $keepMergedSeconds)
      limit 500 for update skip locked
    ), carts as (
      delete from cart.carts where cart_id in (select cart_id from expired)
    )
    delete from cart.guest_carts
    where token_hash in (select token_hash from expired union all select token_hash from forgotten)`
})

export async function findGuestCart(
  db: Queryable,
  tokenHash: Buffer
): Promise<{ cart: StoredCartWithId; isReturning: boolean } | undefined> {
  const rows = await db.rows(findGuestCartLines, { tokenHash })
  const [first] = rows
  if (first === undefined) return undefined
  return { cart: await storedCartOf(db, first.cart_id, rows), isReturning: first.is_returning }
}

/** A new cart of a guest with its first line. */
export type NewGuestCart = { readonly tokenHash: Buffer; readonly cartId: string; readonly line: CartLine }

/** Inserts the carts in one statement, and returns them in this order. They expire after `idleSeconds`. */
export async function insertGuestCarts(
  db: Queryable,
  carts: readonly NewGuestCart[],
  idleSeconds: number
): Promise<CartAfterLineChange[]> {
  const rows = await db.rows(insertNewGuestCarts, {
    tokenHashes: carts.map(({ tokenHash }) => tokenHash),
    cartIds: carts.map(({ cartId }) => cartId),
    idleSeconds,
    ids: carts.map(({ line }) => line.id),
    variantIds: carts.map(({ line }) => line.variantId),
    quantities: carts.map(({ line }) => line.quantity),
    metadata: carts.map(({ line }) => cartLineMetadataJson(line))
  })
  const inserted = new Map(rows.map(row => [row.cart_id, row]))
  return carts.map(({ cartId, line }) => ({ ...cartVersionOf(inserted.get(cartId)), lines: [line] }))
}
