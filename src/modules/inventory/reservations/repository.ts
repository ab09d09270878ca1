import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { ReservationResponse } from './schema.ts'

const filters = { firstOwner: 'uuid', lastOwner: 'uuid', variant_id: 'uuid?', state: 'text?' } as const

/** Pages through reservations of the owners from `firstOwner` to `lastOwner`. Null filters match all. */
export const listReservations = statement({
  name: 'inventory.list_all_reservations',
  takes: { ...filters, owner: 'uuid', item: 'uuid', place: 'uuid', limit: 'int8' },
  gives: {
    owner: 'uuid',
    variant_id: 'uuid',
    location_id: 'uuid',
    location: 'text',
    quantity: 'int4',
    fulfilled: 'int4',
    state: oneOf<ReservationResponse['state']>(),
    expires_at: 'timestamptz?'
  },
  slow: true,
  text: `
    select reservations.owner, reservations.item_id as variant_id, reservations.location_id, locations.code as location,
      reservations.quantity, reservations.fulfilled, reservations.state, reservations.expires_at
    from inventory.reservations join inventory.locations on locations.id = reservations.location_id
    where reservations.owner between $firstOwner and $lastOwner
      and (reservations.owner, reservations.item_id, reservations.location_id) > ($owner, $item, $place)
      and ($variant_id::uuid is null or reservations.item_id = $variant_id)
      and ($state::text is null or reservations.state = $state)
    order by reservations.owner, reservations.item_id, reservations.location_id limit $limit`
})
export const countReservations = statement({
  name: 'inventory.count_all_reservations',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`inventory.reservations
    where owner between $firstOwner and $lastOwner
      and ($variant_id::uuid is null or item_id = $variant_id) and ($state::text is null or state = $state)`)
})

// The two statements do not name the condition of a partial index, because a plan made on an empty table would read that whole index.
/**
 * Claims the held reservations of these owners. Waits only for a batch that locks the same owner, and
 * returns the newest quantities.
 */
export const claimHeldReservationsOfOwners = statement({
  name: 'inventory.claim_reservations',
  takes: { owner: 'uuid' },
  gives: { at: 'int8', item_id: 'uuid', quantity: 'int4' },
  forEach: true,
  text: `
    with owners as materialized (select * from $each),
    claimed as (
      update inventory.reservations set state = 'claimed', expires_at = null
      where owner = any (array(select owner from owners)) and state = 'held'
      returning owner, item_id, quantity
    )
    select at, item_id, quantity from owners join claimed using (owner)`
})
/** Confirms claimed reservations. */
export const confirmClaimedStockReservations = statement({
  name: 'inventory.confirm_reservations',
  takes: { owner: 'uuid' },
  text: `
    update inventory.reservations set state = 'confirmed'
    where owner = $owner and state = 'claimed'`
})
/** Sums, per owner and item, the units of unpaid claims of which nothing was shipped. */
export const listUnpaidStockClaims = statement({
  name: 'inventory.list_claimants',
  takes: { itemIds: 'uuid[]', limit: 'int8' },
  gives: { owner: 'uuid', item_id: 'uuid', quantity: 'int4' },
  text: `
    select owner, item_id, sum(quantity)::int as quantity from (
      select owner, item_id, quantity from inventory.reservations
      where item_id = any ($itemIds) and expires_at is null and closed_at is null and state = 'claimed' and fulfilled = 0
      limit $limit
    ) as claims group by owner, item_id`
})
export const listContestedStockUnitsOfOwner = statement({
  name: 'inventory.list_contested',
  takes: { owner: 'uuid' },
  gives: { item_id: 'uuid', quantity: 'int4' },
  text: 'select item_id, quantity from inventory.contested where owner = $owner order by item_id'
})
export const deleteOldContestedStockUnits = statement({
  name: 'inventory.delete_old_contested',
  takes: { limit: 'int8' },
  text: `
    delete from inventory.contested where ctid in (
      select ctid from inventory.contested where at < now() - interval '30 days' limit $limit for update skip locked)`
})
export const listTrackedItemIds = statement({
  name: 'inventory.list_tracked',
  takes: { itemIds: 'uuid[]' },
  gives: { id: 'uuid' },
  text: 'select id from inventory.items where id = any ($itemIds) and tracked'
})
/** Lists owners with expired held reservations, such as those of a process that crashed. */
export const listExpiredReservations = statement({
  name: 'inventory.list_due',
  takes: { limit: 'int8' },
  gives: { owner: 'uuid', item_ids: 'uuid[]' },
  text: `
    select owner, array_agg(item_id) as item_ids from (
      select owner, item_id from inventory.reservations
      where expires_at <= now() order by expires_at limit $limit
    ) due group by owner`
})
export const deleteOldClosedReservations = statement({
  name: 'inventory.delete_reservations',
  takes: { limit: 'int8' },
  text: `
    delete from inventory.reservations where ctid in (
      select ctid from inventory.reservations
      where closed_at < now() - interval '30 days' limit $limit for update skip locked)`
})
