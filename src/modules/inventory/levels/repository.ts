import { countUpTo } from '../../../platform/postgres/counting.ts'
import { statement } from '../../../platform/postgres/statement.ts'

const level = {
  variant_id: 'uuid',
  sku: 'text?',
  location_id: 'uuid',
  location: 'text',
  on_hand: 'int4',
  reserved: 'int4',
  safety: 'int4',
  available: 'int4',
  seq: 'int8',
  updated_at: 'timestamptz'
} as const
const levelColumns = `levels.item_id as variant_id, items.sku, levels.location_id, locations.code as location,
      levels.on_hand, levels.reserved, levels.safety,
      case when locations.active then greatest(0, greatest(0, greatest(0, levels.on_hand) - levels.safety) - levels.reserved) else 0 end as available,
      levels.seq, levels.updated_at`

/** Pages through levels of the items from `first` to `last`. `location`: an id; null: all locations. */
export const listStockLevels = statement({
  name: 'inventory.list_all_levels',
  takes: { first: 'uuid', last: 'uuid', location: 'uuid?', item: 'uuid', place: 'uuid', limit: 'int8' },
  gives: level,
  slow: true,
  text: `
    select ${levelColumns}
    from inventory.levels
    join inventory.items on items.id = levels.item_id
    join inventory.locations on locations.id = levels.location_id
    where levels.item_id between $first and $last and (levels.item_id, levels.location_id) > ($item, $place)
      and ($location::uuid is null or levels.location_id = $location)
    order by levels.item_id, levels.location_id limit $limit`
})
export const countStockLevels = statement({
  name: 'inventory.count_all_levels',
  takes: { first: 'uuid', last: 'uuid', location: 'uuid?' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`inventory.levels
    where item_id between $first and $last and ($location::uuid is null or location_id = $location)`)
})
/** Lists levels by the time of their last change. `at` is in microseconds since 1970. */
export const listChangedStockLevels = statement({
  name: 'inventory.list_changed_levels',
  takes: { at: 'float8', item: 'uuid', place: 'uuid', limit: 'int8' },
  gives: { ...level, changed_at: 'int8' },
  slow: true,
  text: `
    select ${levelColumns}, (extract(epoch from levels.updated_at) * 1000000)::int8 as changed_at
    from (
      select item_id, location_id, on_hand, reserved, safety, seq, updated_at from inventory.levels
      where (updated_at, item_id, location_id) > (timestamptz 'epoch' + $at * interval '1 microsecond', $item, $place)
      order by updated_at, item_id, location_id limit $limit
    ) as levels
    join inventory.items on items.id = levels.item_id
    join inventory.locations on locations.id = levels.location_id
    order by levels.updated_at, levels.item_id, levels.location_id`
})
export const countChangedStockLevels = statement({
  name: 'inventory.count_changed_levels',
  takes: { since: 'timestamptz' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo('inventory.levels where updated_at >= $since')
})
/** Finds a location by code; without a code, the active location with the lowest priority number. */
export const findLocationByCodeOrDefault = statement({
  name: 'inventory.find_place',
  takes: { code: 'text?' },
  gives: { id: 'uuid', code: 'text' },
  text: `
    select id, code from inventory.locations
    where case when $code::text is null then active else code = $code end order by priority, id limit 1`
})
