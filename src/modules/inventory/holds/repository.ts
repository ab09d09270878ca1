import { statement } from '../../../platform/postgres/statement.ts'

// Neither names a state that an index is made for: planned while there was nothing, PostgreSQL read all that anybody holds.
/** Waits for nobody but a batch that holds this very owner; gives the newest quantities. What is held ends some time. */
export const claimReservations = statement({
  name: 'inventory.claim_reservations',
  takes: { owner: 'uuid' },
  gives: { at: 'int8', item_id: 'uuid', quantity: 'int4' },
  forEach: true,
  text: `
    with owners as materialized (select * from $each),
    claimed as (
      update inventory.reservations set state = 'claimed', expires_at = null
      where owner = any (array(select owner from owners)) and expires_at is not null
      returning owner, item_id, quantity
    )
    select at, item_id, quantity from owners join claimed using (owner)`
})
/** What is open and has no end is claimed, or confirmed already. */
export const confirmReservations = statement({
  name: 'inventory.confirm_reservations',
  takes: { owner: 'uuid' },
  text: `
    update inventory.reservations set state = 'confirmed'
    where owner = $owner and expires_at is null and closed_at is null and state <> 'confirmed'`
})
/** For how many units of these items each owner has claims that are not paid, and of which nothing was sent. */
export const listClaimants = statement({
  name: 'inventory.list_claimants',
  takes: { itemIds: 'uuid[]', limit: 'int8' },
  gives: { owner: 'uuid', item_id: 'uuid', quantity: 'int4' },
  text: `
    select owner, item_id, sum(quantity)::int as quantity from (
      select owner, item_id, quantity from inventory.reservations
      where item_id = any ($itemIds) and state = 'claimed' and fulfilled = 0 limit $limit
    ) as claims group by owner, item_id`
})
export const listContested = statement({
  name: 'inventory.list_contested',
  takes: { owner: 'uuid' },
  gives: { item_id: 'uuid', quantity: 'int4' },
  text: 'select item_id, quantity from inventory.contested where owner = $owner order by item_id'
})
/** Each item once. Gives by how much less is contested. */
export const reduceContested = statement({
  name: 'inventory.reduce_contested',
  takes: { owner: 'uuid', itemIds: 'uuid[]', quantities: 'int4[]' },
  gives: { item_id: 'uuid', quantity: 'int4' },
  text: `
    with less as (select * from unnest($itemIds::uuid[], $quantities::int[]) as less (item_id, quantity)),
    gone as (
      delete from inventory.contested using less
      where contested.owner = $owner and contested.item_id = less.item_id and contested.quantity <= less.quantity
      returning contested.item_id, contested.quantity
    ),
    reduced as (
      update inventory.contested set quantity = contested.quantity - less.quantity from less
      where contested.owner = $owner and contested.item_id = less.item_id and contested.quantity > less.quantity
      returning less.item_id, less.quantity
    )
    select item_id, quantity from gone union all select item_id, quantity from reduced`
})
export const deleteOldContested = statement({
  name: 'inventory.delete_old_contested',
  takes: { limit: 'int8' },
  text: `
    delete from inventory.contested where ctid in (
      select ctid from inventory.contested where at < now() - interval '30 days' limit $limit for update skip locked)`
})
export const listTracked = statement({
  name: 'inventory.list_tracked',
  takes: { itemIds: 'uuid[]' },
  gives: { id: 'uuid' },
  text: 'select id from inventory.items where id = any ($itemIds) and tracked'
})
/** Held and due; a process that ended did not give them back. */
export const listDue = statement({
  name: 'inventory.list_due',
  takes: { limit: 'int8' },
  gives: { owner: 'uuid', item_ids: 'uuid[]' },
  text: `
    select owner, array_agg(item_id) as item_ids from (
      select owner, item_id from inventory.reservations
      where state = 'held' and expires_at <= now() order by expires_at limit $limit
    ) due group by owner`
})
export const deleteReservations = statement({
  name: 'inventory.delete_reservations',
  takes: { limit: 'int8' },
  text: `
    delete from inventory.reservations where ctid in (
      select ctid from inventory.reservations
      where state = 'closed' and closed_at < now() - interval '30 days' limit $limit for update skip locked)`
})
