import { statement } from '../../../platform/postgres/statement.ts'

// Keeps the expiry of a cart, because a change of it would write the indexes of the row, now and with the next line. Only the cart
// of a guest that expires before `idle_seconds` gets a new one, so that an expired order can return its lines.
// Locks the row of a guest's token before the row of the cart, as all other writes do, so that they cannot
// deadlock.
export const emptyCartForOrder = statement({
  name: 'cart.take_cart',
  takes: { cart_id: 'uuid', version: 'int4', idle_seconds: 'float8?' },
  gives: { at: 'int8' },
  forEach: true,
  text: `
    with wanted as materialized (select * from $each),
    guests as materialized (
      select cart_id from cart.guest_carts where cart_id = any (array(select cart_id from wanted)) order by cart_id for update
    ), free as (
      select at, cart_id, version, idle_seconds, guests.cart_id is not null as is_guest from wanted left join guests using (cart_id)
    ), taken as (
      update cart.carts c set
        version = c.version + 1, updated_at = clock_timestamp(), quantity = 0, distinct_count = 0, metadata = '{}',
        expires_at = case
          when free.is_guest and c.expires_at < now() + make_interval(secs => free.idle_seconds)
          then now() + make_interval(secs => free.idle_seconds) else c.expires_at end
      from free
      where c.cart_id = any (array(select cart_id from free)) and c.cart_id = free.cart_id and c.version = free.version
        and c.quantity > 0 and c.expires_at > now()
      returning c.cart_id, free.at
    ), emptied as (
      delete from cart.items where cart_id = any (array(select cart_id from taken))
    )
    select at from taken`
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
