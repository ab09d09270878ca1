import { statement } from 'cartwright'

const columns = { id: 'uuid', variant_id: 'uuid', wished_at: 'timestamptz' } as const

export const listWishes = statement({
  name: 'wishlist.list_wishes',
  takes: { customer_id: 'uuid', after: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    select id, variant_id, wished_at from wishlist.wishes
    where customer_id = $customer_id and id < $after order by id desc limit $limit`
})
export const findWish = statement({
  name: 'wishlist.find_wish',
  takes: { customer_id: 'uuid', id: 'uuid' },
  gives: columns,
  text: `
    select id, variant_id, wished_at from wishlist.wishes where customer_id = $customer_id and id = $id`
})
export const countWishes = statement({
  name: 'wishlist.count_wishes',
  takes: { customer_id: 'uuid' },
  gives: { total: 'int8' },
  text: 'select count(*) as total from wishlist.wishes where customer_id = $customer_id'
})
/** Two wishes of one customer are made one after the other, so that both cannot be the last that the limit allows. */
export const lockWishlist = statement({
  name: 'wishlist.lock_wishlist',
  takes: { customer_id: 'uuid' },
  text: `select pg_advisory_xact_lock(hashtextextended('wishlist' || $customer_id::uuid, 0))`
})
export const insertWish = statement({
  name: 'wishlist.insert_wish',
  takes: { id: 'uuid', customer_id: 'uuid', variant_id: 'uuid' },
  text: `
    insert into wishlist.wishes (id, customer_id, variant_id) values ($id, $customer_id, $variant_id)`
})
export const deleteWish = statement({
  name: 'wishlist.delete_wish',
  takes: { customer_id: 'uuid', id: 'uuid' },
  text: 'delete from wishlist.wishes where customer_id = $customer_id and id = $id'
})
/** Every wish of a customer whose account is deleted. */
export const deleteWishes = statement({
  name: 'wishlist.delete_wishes',
  takes: { customer_id: 'uuid' },
  text: 'delete from wishlist.wishes where customer_id = $customer_id'
})
export const exportWishes = statement({
  name: 'wishlist.export_wishes',
  takes: { customer_id: 'uuid' },
  gives: columns,
  text: `
    select id, variant_id, wished_at from wishlist.wishes where customer_id = $customer_id order by id`
})
