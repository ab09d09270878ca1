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
