import { statement } from '../../../platform/postgres/statement.ts'

export const findGuestCartByTokenHash = statement({
  name: 'cart.find_guest_cart',
  takes: { tokenHash: 'bytea' },
  gives: { cart_id: 'uuid', is_returning: 'bool' },
  text: `
    select g.cart_id,
      c.version = 1 and g.created_at <= now() - interval '1 hour' and c.expires_at <= now() + interval '1 day'
        as is_returning
    from cart.guest_carts g join cart.carts c on c.cart_id = g.cart_id
    where g.token_hash = $tokenHash and g.merged_into is null and c.expires_at > now()`
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
export const insertGuestCart = statement({
  name: 'cart.insert_guest_cart',
  takes: { tokenHash: 'bytea', cartId: 'uuid' },
  text: 'insert into cart.guest_carts (token_hash, cart_id) values ($tokenHash, $cartId)'
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
