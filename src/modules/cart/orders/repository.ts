import { statement } from '../../../platform/postgres/statement.ts'

// A guest's token is locked before their cart, as everywhere: whose cart it is, is known before the cart's row is touched.
export const takeCart = statement({
  name: 'cart.take_cart',
  takes: { cartId: 'uuid', version: 'int4', idleSeconds: 'float8' },
  text: `
    with guest as materialized (
      select from cart.guest_carts where cart_id = $cartId for update
    ), taken as (
      update cart.carts c set
        version = c.version + 1, updated_at = clock_timestamp(), quantity = 0, distinct_count = 0,
        expires_at = case when owner.is_guest then now() + make_interval(secs => $idleSeconds) else 'infinity' end
      from (select count(*) > 0 as is_guest from guest) owner
      where c.cart_id = $cartId and c.version = $version and c.quantity > 0 and c.expires_at > now()
      returning c.cart_id
    ), emptied as (
      delete from cart.items i using taken where i.cart_id = $cartId and i.cart_id = taken.cart_id
    )
    select from taken`
})
export const lockGuestCartById = statement({
  name: 'cart.lock_guest_cart_by_id',
  takes: { cartId: 'uuid' },
  gives: { is_open: 'bool' },
  text: `
    select merged_into is null
      and exists (select from cart.carts c where c.cart_id = $cartId and c.expires_at > now()) as is_open
    from cart.guest_carts where cart_id = $cartId for update`
})
