import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { StockMovementResponse } from './schema.ts'

/** Pages through movements by location, newest first. `location` null: all locations. */
export const listStockMovements = statement({
  name: 'inventory.list_all_movements',
  takes: { variant_id: 'uuid', location: 'text?', seq: 'int8', place: 'uuid', limit: 'int8' },
  gives: {
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
  },
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
export const countStockMovements = statement({
  name: 'inventory.count_all_movements',
  takes: { variant_id: 'uuid', location: 'text?' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`inventory.movements join inventory.locations on locations.id = movements.location_id
    where movements.item_id = $variant_id and ($location::text is null or locations.code = $location)`)
})
