import { LIST_TOTAL_MAX } from '../../../kernel/pages.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { StockMovementResponse } from './schema.ts'

const movement = {
  variant_id: 'uuid',
  location_id: 'uuid',
  location: 'text',
  seq: 'int8',
  kind: oneOf<StockMovementResponse['kind']>(),
  on_hand_delta: 'int4',
  reserved_delta: 'int4',
  on_hand_after: 'int4',
  reserved_after: 'int4',
  owner: 'uuid?',
  actor: 'uuid?',
  reason: 'text?',
  reference: 'text?',
  at: 'timestamptz'
} as const

/** Pages through movements by location, newest first. `location` null: all locations. */
export const listStockMovementsOfVariant = statement({
  name: 'inventory.list_all_movements',
  takes: { variant_id: 'uuid', location: 'text?', seq: 'int8', place: 'uuid', limit: 'int8' },
  gives: movement,
  slow: true,
  text: `
    select movements.item_id as variant_id, movements.location_id, locations.code as location, movements.seq,
      movements.kind, movements.on_hand_delta, movements.reserved_delta, movements.on_hand_after,
      movements.reserved_after, movements.owner, movements.actor, movements.reason, movements.reference, movements.at
    from inventory.locations cross join lateral (
      select item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after, reserved_after,
        owner, actor, reason, reference, at
      from inventory.movements
      where movements.item_id = $variant_id and movements.location_id = locations.id
        and (locations.id > $place or movements.seq < $seq)
      order by movements.seq desc limit $limit
    ) as movements
    where locations.id >= $place and ($location::text is null or locations.code = $location)
    order by movements.location_id, movements.seq desc limit $limit`
})
export const countStockMovementsOfVariant = statement({
  name: 'inventory.count_all_movements',
  takes: { variant_id: 'uuid', location: 'text?' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`inventory.movements join inventory.locations on locations.id = movements.location_id
    where movements.item_id = $variant_id and ($location::text is null or locations.code = $location)`)
})

/**
 * Lists movements of all variants, newest first. `location` null: all locations. Each location finds its rows in the index,
 * so that a quiet one costs no more than a busy one.
 */
export const listRecentStockMovements = statement({
  name: 'inventory.list_recent_movements',
  takes: { location: 'text?', at: 'float8', item: 'uuid', seq: 'int8', place: 'uuid', limit: 'int8' },
  gives: { ...movement, moved_at: 'int8' },
  slow: true,
  text: `
    select movements.item_id as variant_id, movements.location_id, page.code as location, movements.seq,
      movements.kind, movements.on_hand_delta, movements.reserved_delta, movements.on_hand_after,
      movements.reserved_after, movements.owner, movements.actor, movements.reason, movements.reference, movements.at,
      (extract(epoch from movements.at) * 1000000)::int8 as moved_at
    from (
      select recent.item_id, recent.location_id, recent.seq, locations.code
      from inventory.locations cross join lateral (
        select at, item_id, seq, location_id from inventory.movements
        where movements.location_id = locations.id
          and (at, item_id, seq, location_id)
            < (timestamptz 'epoch' + $at * interval '1 microsecond', $item, $seq, $place)
        order by at desc, item_id desc, seq desc limit $limit
      ) as recent
      where $location::text is null or locations.code = $location
      order by recent.at desc, recent.item_id desc, recent.seq desc, recent.location_id desc limit $limit
    ) as page
    join inventory.movements on movements.item_id = page.item_id and movements.location_id = page.location_id
      and movements.seq = page.seq
    order by movements.at desc, movements.item_id desc, movements.seq desc, movements.location_id desc`
})
// The order keeps the planner from reading the whole table for a location without movements.
export const countRecentStockMovements = statement({
  name: 'inventory.count_recent_movements',
  takes: { location: 'text?' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`inventory.locations cross join lateral (
      select from inventory.movements where movements.location_id = locations.id
      order by at limit ${LIST_TOTAL_MAX + 1}
    ) as recent where $location::text is null or locations.code = $location`)
})
