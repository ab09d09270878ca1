import { json, statement } from '../../../platform/postgres/statement.ts'

/** A movement that does not continue the previous one. */
export type DiscontinuousStockMovement = {
  readonly seq: number
  readonly previous: number
  readonly on_hand_before: number
  readonly reserved_before: number
  readonly on_hand_delta: number
  readonly reserved_delta: number
  readonly on_hand_after: number
  readonly reserved_after: number
}

/**
 * Lists levels with the sums of their movements and reservations. One statement sees one snapshot, so a
 * concurrent batch is visible as a whole or not at all. `at_*`: balances of the movement with the level's
 * number.
 */
export const listStockLedgerLevels = statement({
  name: 'inventory.list_ledger_levels',
  takes: { afterItemId: 'uuid', afterLocationId: 'uuid', limit: 'int8' },
  gives: {
    item_id: 'uuid',
    location_id: 'uuid',
    on_hand: 'int4',
    reserved: 'int4',
    seq: 'int8',
    last_seq: 'int8',
    last_on_hand: 'int4',
    last_reserved: 'int4',
    at_on_hand: 'int4',
    at_reserved: 'int4',
    open: 'int4',
    breaks: json<DiscontinuousStockMovement[]>()
  },
  slow: true,
  primaryOnly: true,
  text: `
    with page as (
      select item_id, location_id, on_hand, reserved, seq from inventory.levels
      where (item_id, location_id) > ($afterItemId, $afterLocationId)
      order by item_id, location_id limit $limit
    ), held as (
      select item_id, location_id, sum(quantity - fulfilled) as quantity from inventory.reservations
      where expires_at is not null group by item_id, location_id
    )
    select page.item_id, page.location_id, page.on_hand, page.reserved, page.seq,
      coalesce(latest.seq, 0) as last_seq, coalesce(latest.on_hand_after, 0) as last_on_hand,
      coalesce(latest.reserved_after, 0) as last_reserved,
      coalesce(present.on_hand_after, 0) as at_on_hand, coalesce(present.reserved_after, 0) as at_reserved,
      (coalesce(taken.quantity, 0) + coalesce(held.quantity, 0))::int as open,
      coalesce(broken.list, '[]') as breaks
    from page
      left join held on held.item_id = page.item_id and held.location_id = page.location_id
      left join inventory.movements present on present.item_id = page.item_id
        and present.location_id = page.location_id and present.seq = page.seq
      left join lateral (
        select seq, on_hand_after, reserved_after from inventory.movements
        where movements.item_id = page.item_id and movements.location_id = page.location_id
        order by seq desc limit 1
      ) latest on true
      left join lateral (
        select sum(quantity - fulfilled) as quantity from inventory.reservations
        where reservations.item_id = page.item_id and reservations.location_id = page.location_id
          and expires_at is null and closed_at is null
      ) taken on true
      left join lateral (
        select jsonb_agg(to_jsonb(chain) order by seq) as list from (
          select seq, kind, lag(seq, 1, 0::bigint) over numbered as previous,
            lag(on_hand_after, 1, 0) over numbered as on_hand_before,
            lag(reserved_after, 1, 0) over numbered as reserved_before,
            on_hand_delta, reserved_delta, on_hand_after, reserved_after
          from inventory.movements
          where movements.item_id = page.item_id and movements.location_id = page.location_id
          window numbered as (order by seq)
        ) chain
        where (seq <> previous + 1 and (kind <> 'balance' or previous > 0)) or on_hand_after <> on_hand_before + on_hand_delta
          or reserved_after <> reserved_before + reserved_delta
      ) broken on true
    order by page.item_id, page.location_id`
})
/** Lists item and location of open reservations whose stock level does not exist. */
export const listMissingStockLevelsOfReservations = statement({
  name: 'inventory.list_without_level',
  takes: { limit: 'int8' },
  gives: { item_id: 'uuid', location_id: 'uuid' },
  slow: true,
  primaryOnly: true,
  text: `
    select distinct item_id, location_id from inventory.reservations
    where closed_at is null and not exists (
      select from inventory.levels
      where levels.item_id = reservations.item_id and levels.location_id = reservations.location_id)
    order by item_id, location_id limit $limit`
})
/** Lists reservations that expired more than 60 seconds ago: the expiry timer does not run. */
export const listOverdueReservations = statement({
  name: 'inventory.list_overdue',
  takes: { limit: 'int8' },
  gives: { owner: 'uuid', item_ids: 'uuid[]', seconds: 'float8' },
  slow: true,
  primaryOnly: true,
  text: `
    select owner, array_agg(item_id order by item_id) as item_ids,
      extract(epoch from now() - min(expires_at))::float8 as seconds
    from inventory.reservations
    where expires_at < now() - interval '60 seconds'
    group by owner order by owner limit $limit`
})
/** Lists requests posted more than 60 seconds ago and not applied: the writer does not run. */
export const listOverdueStockRequests = statement({
  name: 'inventory.list_undone',
  takes: { limit: 'int8' },
  gives: { id: 'uuid', kind: 'text', seconds: 'float8' },
  slow: true,
  primaryOnly: true,
  text: `
    select id, kind, extract(epoch from now() - posted_at)::float8 as seconds from inventory.requests
    where done_at is null and posted_at < now() - interval '60 seconds'
    order by seq limit $limit`
})
/** Deletes the movements of a level after `lastSeq`. */
export const deleteStockMovementsAfter = statement({
  name: 'inventory.delete_movements',
  takes: { itemId: 'uuid', locationId: 'uuid', lastSeq: 'int8' },
  gives: {
    item_id: 'uuid',
    location_id: 'uuid',
    seq: 'int8',
    kind: 'text',
    on_hand_delta: 'int4',
    reserved_delta: 'int4',
    operation: 'uuid'
  },
  text: `
    delete from inventory.movements
    where item_id = $itemId and location_id = $locationId and seq > $lastSeq
    returning item_id, location_id, seq, kind, on_hand_delta, reserved_delta, operation`
})

/** Lists how many discrepancies of each kind the latest check found. */
export const listStockLedgerFindingCounts = statement({
  name: 'inventory.list_finding_counts',
  gives: { kind: 'text', count: 'int4' },
  text: 'select kind, count from inventory.findings'
})
export const saveStockLedgerFindingCounts = statement({
  name: 'inventory.save_finding_counts',
  takes: { kinds: 'text[]', counts: 'int4[]' },
  text: `
    insert into inventory.findings (kind, count)
    select kind, count from unnest($kinds::text[], $counts::int[]) as found (kind, count)
    on conflict (kind) do update set count = excluded.count, checked_at = now()`
})
