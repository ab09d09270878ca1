import { oneOf, statement } from '../../../platform/postgres/statement.ts'

// Only the stock writer locks or changes levels: holding all levels of an item is enough to decide about it.

const policy = {
  tracked: 'bool',
  backorder: oneOf<'none' | 'limit' | 'any'>(),
  backorder_limit: 'int4?',
  low_threshold: 'int4?'
} as const
const level = {
  item_id: 'uuid',
  location_id: 'uuid',
  on_hand: 'int4?',
  reserved: 'int4?',
  safety: 'int4?',
  seq: 'int8?',
  source_version: 'int8?',
  priority: 'int4',
  active: 'bool',
  ...policy
} as const

/**
 * Locks all levels of the batch's items in a fixed order. After a lock wait it returns the newest values. Policies and
 * locations are as old as the snapshot.
 */
export const lockStockLevels = statement({
  name: 'inventory.lock_levels',
  takes: { itemIds: 'uuid[]' },
  gives: level,
  text: `
    select levels.item_id, levels.location_id, levels.on_hand, levels.reserved, levels.safety, levels.seq,
      levels.source_version, locations.priority, locations.active,
      tracked, backorder, backorder_limit, low_threshold
    from inventory.levels join inventory.locations on locations.id = levels.location_id
      join inventory.items on items.id = levels.item_id
    where levels.item_id = any ($itemIds)
    order by levels.item_id, levels.location_id for update of levels`
})
/**
 * Locks free levels without waiting; levels locked by others are returned without quantities. Quantities
 * come from the locking subquery, because the other side of the join is as old as the snapshot.
 */
export const lockStockLevelsWithoutWaiting = statement({
  name: 'inventory.lock_free_levels',
  takes: { itemIds: 'uuid[]' },
  gives: level,
  text: `
    with free as (
      select item_id, location_id, on_hand, reserved, safety, seq, source_version from inventory.levels
      where item_id = any ($itemIds) order by item_id, location_id for update skip locked
    )
    select levels.item_id, levels.location_id, free.on_hand, free.reserved, free.safety, free.seq,
      free.source_version, locations.priority, locations.active,
      tracked, backorder, backorder_limit, low_threshold
    from inventory.levels join inventory.locations on locations.id = levels.location_id
      join inventory.items on items.id = levels.item_id
      left join free on free.item_id = levels.item_id and free.location_id = levels.location_id
    where levels.item_id = any ($itemIds)`
})
export const listStockPolicies = statement({
  name: 'inventory.list_items_to_decide',
  takes: { itemIds: 'uuid[]' },
  gives: { id: 'uuid', ...policy },
  text: `
    select id, tracked, backorder, backorder_limit, low_threshold from inventory.items
    where id = any ($itemIds)`
})

/**
 * Locks the reservations of these owners, including closed ones. Rows locked by a claim are returned
 * without values.
 */
export const lockReservations = statement({
  name: 'inventory.lock_reservations',
  takes: { owners: 'uuid[]' },
  gives: {
    owner: 'uuid',
    item_id: 'uuid',
    location_id: 'uuid',
    quantity: 'int4?',
    fulfilled: 'int4?',
    state: 'text?',
    is_due: 'bool?'
  },
  text: `
    with free as (
      select owner, item_id, location_id, quantity, fulfilled, state, expires_at <= now() as is_due
      from inventory.reservations where owner = any ($owners) for update skip locked
    )
    select reservations.owner, reservations.item_id, reservations.location_id,
      free.quantity, free.fulfilled, free.state, free.is_due
    from inventory.reservations left join free on free.owner = reservations.owner
      and free.item_id = reservations.item_id and free.location_id = reservations.location_id
    where reservations.owner = any ($owners)`
})
/**
 * Lists the movements of these shipments and of their undoing. The index `movements_shipped` has the same
 * kinds.
 */
export const listShipmentStockMovements = statement({
  name: 'inventory.list_shipped',
  takes: { shipments: 'uuid[]' },
  gives: {
    item_id: 'uuid',
    location_id: 'uuid',
    kind: oneOf<'ship' | 'unship'>(),
    on_hand_delta: 'int4',
    reserved_delta: 'int4',
    operation: 'uuid',
    owner: 'uuid?'
  },
  text: `
    select item_id, location_id, kind, on_hand_delta, reserved_delta, operation, owner from inventory.movements
    where operation = any ($shipments) and kind in ('ship', 'unship') order by item_id, location_id, seq`
})
/** Finds the default location of operations that name none. */
export const findDefaultLocation = statement({
  name: 'inventory.find_home',
  gives: { id: 'uuid' },
  text: 'select id from inventory.locations where active order by priority, id limit 1'
})
/** Creates missing levels. Without a location: at the default location. */
export const insertMissingStockLevels = statement({
  name: 'inventory.insert_levels',
  takes: { itemIds: 'uuid[]', locationIds: 'text[]' },
  gives: { item_id: 'uuid' },
  text: `
    insert into inventory.levels (item_id, location_id)
    select distinct items.id, locations.id
    from unnest($itemIds::uuid[], $locationIds::text[]) as wanted (item_id, location_id)
      join inventory.items on items.id = wanted.item_id and items.tracked
      join inventory.locations on locations.id = coalesce(nullif(wanted.location_id, '')::uuid,
        (select home.id from inventory.locations home where home.active order by home.priority, home.id limit 1))
    order by 1, 2
    on conflict do nothing
    returning item_id`
})
/**
 * Writes changed levels, and records the affected variants in `inventory.changes`, which caches poll.
 * `updated_at` can be up to a second older than the transaction: while it stays, a level changes without an
 * update of its indexes.
 */
export const updateStockLevels = statement({
  name: 'inventory.update_levels',
  takes: {
    itemIds: 'uuid[]',
    locationIds: 'uuid[]',
    onHand: 'int4[]',
    reserved: 'int4[]',
    safety: 'int4[]',
    seqs: 'int8[]',
    sourceVersions: 'float8[]'
  },
  text: `
    with noted as (
      insert into inventory.changes (variant_ids)
      select $itemIds::uuid[] || array(
        select components.variant_id from inventory.components where components.item_id = any ($itemIds))
    )
    update inventory.levels set on_hand = now.on_hand, reserved = now.reserved, safety = now.safety,
      seq = now.seq, source_version = now.source_version::int8,
      updated_at = case when now.seq > levels.seq and levels.updated_at < now() - interval '1 second' then now() else levels.updated_at end
    from unnest($itemIds::uuid[], $locationIds::uuid[], $onHand::int[], $reserved::int[], $safety::int[],
        $seqs::int8[], $sourceVersions::float8[])
      as now (item_id, location_id, on_hand, reserved, safety, seq, source_version)
    where levels.item_id = now.item_id and levels.location_id = now.location_id`
})

const reservation = {
  owners: 'uuid[]',
  itemIds: 'uuid[]',
  locationIds: 'uuid[]',
  quantities: 'int4[]',
  fulfilled: 'int4[]',
  states: 'text[]',
  seconds: 'float8[]'
} as const
export const insertReservations = statement({
  name: 'inventory.insert_reservations',
  takes: reservation,
  text: `
    insert into inventory.reservations
      (owner, item_id, location_id, quantity, fulfilled, state, expires_at, closed_at)
    select owner, item_id, location_id, quantity, fulfilled, state,
      case when state = 'held' then now() + make_interval(secs => seconds) end,
      case when state = 'closed' then now() end
    from unnest($owners::uuid[], $itemIds::uuid[], $locationIds::uuid[], $quantities::int[], $fulfilled::int[],
        $states::text[], $seconds::float8[])
      as row (owner, item_id, location_id, quantity, fulfilled, state, seconds)`
})
export const updateReservations = statement({
  name: 'inventory.update_reservations',
  takes: reservation,
  text: `
    update inventory.reservations set quantity = row.quantity, fulfilled = row.fulfilled, state = row.state,
      expires_at = case when row.state = 'held'
        then coalesce(now() + make_interval(secs => row.seconds), reservations.expires_at) end,
      closed_at = case when row.state = 'closed' then coalesce(reservations.closed_at, now()) end
    from unnest($owners::uuid[], $itemIds::uuid[], $locationIds::uuid[], $quantities::int[], $fulfilled::int[],
        $states::text[], $seconds::float8[])
      as row (owner, item_id, location_id, quantity, fulfilled, state, seconds)
    where reservations.owner = row.owner and reservations.item_id = row.item_id
      and reservations.location_id = row.location_id`
})
export const insertStockMovements = statement({
  name: 'inventory.insert_movements',
  takes: {
    itemIds: 'uuid[]',
    locationIds: 'uuid[]',
    seqs: 'int8[]',
    kinds: 'text[]',
    onHandDeltas: 'int4[]',
    reservedDeltas: 'int4[]',
    onHandAfter: 'int4[]',
    reservedAfter: 'int4[]',
    allowedAfter: 'float8[]',
    operations: 'uuid[]',
    owners: 'text[]',
    actors: 'text[]',
    reasons: 'text[]'
  },
  text: `
    insert into inventory.movements (item_id, location_id, seq, kind, on_hand_delta, reserved_delta,
      on_hand_after, reserved_after, allowed_after, operation, owner, actor, reason)
    select item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after, reserved_after,
      allowed_after::int, operation, nullif(owner, '')::uuid, nullif(actor, '')::uuid, nullif(reason, '')
    from unnest($itemIds::uuid[], $locationIds::uuid[], $seqs::int8[], $kinds::text[], $onHandDeltas::int[],
        $reservedDeltas::int[], $onHandAfter::int[], $reservedAfter::int[], $allowedAfter::float8[],
        $operations::uuid[], $owners::text[], $actors::text[], $reasons::text[])
      as row (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after, reserved_after,
        allowed_after, operation, owner, actor, reason)`
})
/** Lists the owners with reservations at each short level: the first 100 per level. */
export const listReservationOwnersOfShortLevels = statement({
  name: 'inventory.list_owners',
  takes: { itemIds: 'uuid[]', locationIds: 'uuid[]' },
  gives: { item_id: 'uuid', location_id: 'uuid', owner: 'uuid' },
  text: `
    select short.item_id, short.location_id, waiting.owner
    from unnest($itemIds::uuid[], $locationIds::uuid[]) as short (item_id, location_id)
      cross join lateral (
        select owner from inventory.reservations
        where reservations.item_id = short.item_id and reservations.location_id = short.location_id
          and expires_at is null and closed_at is null
        order by owner limit 100
      ) as waiting`
})

export const deleteContestedStockUnitsOfOrders = statement({
  name: 'inventory.delete_contested',
  takes: { owners: 'uuid[]' },
  text: 'delete from inventory.contested where owner = any ($owners)'
})
export const addContestedStockUnits = statement({
  name: 'inventory.add_contested',
  takes: { owners: 'uuid[]', itemIds: 'uuid[]', quantities: 'int4[]' },
  text: `
    insert into inventory.contested (owner, item_id, quantity)
    select owner, item_id, sum(quantity)
    from unnest($owners::uuid[], $itemIds::uuid[], $quantities::int[]) as row (owner, item_id, quantity)
    group by owner, item_id
    on conflict (owner, item_id) do update set quantity = contested.quantity + excluded.quantity`
})

/**
 * Reduces the contested quantities of owners; each item of an owner may appear once. Returns by how much each was reduced.
 */
export const reduceContestedUnitsOfOwners = statement({
  name: 'inventory.reduce_contested',
  takes: { owners: 'uuid[]', itemIds: 'uuid[]', quantities: 'int4[]' },
  gives: { item_id: 'uuid', quantity: 'int4' },
  text: `
    with less as (
      select * from unnest($owners::uuid[], $itemIds::uuid[], $quantities::int[]) as less (owner, item_id, quantity)
    ),
    gone as (
      delete from inventory.contested using less
      where contested.owner = less.owner and contested.item_id = less.item_id and contested.quantity <= less.quantity
      returning contested.item_id, contested.quantity
    ),
    reduced as (
      update inventory.contested set quantity = contested.quantity - less.quantity from less
      where contested.owner = less.owner and contested.item_id = less.item_id and contested.quantity > less.quantity
      returning less.item_id, less.quantity
    )
    select item_id, quantity from gone union all select item_id, quantity from reduced`
})

export const listAllKitComponents = statement({
  name: 'inventory.list_kits',
  gives: { variant_id: 'uuid', item_id: 'uuid', quantity: 'int4' },
  text: 'select variant_id, item_id, quantity from inventory.components order by variant_id, item_id'
})
