import { countUpTo } from '../../../platform/postgres/counting.ts'
import { json, nullableJson, oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { StockLevelQuantities } from '../decisions/availability.ts'
import type { LocationAddress } from './schema.ts'

const columns = {
  id: 'uuid',
  code: 'text',
  name: 'text',
  address: nullableJson<LocationAddress>(),
  priority: 'int4',
  active: 'bool',
  version: 'int4',
  created_at: 'timestamptz'
} as const
const names = Object.keys(columns).join(', ')
const { version: _, created_at: _at, ...written } = columns

/** Lists locations by priority. */
export const listStockLocations = statement({
  name: 'inventory.list_locations',
  takes: { priority: 'int8', id: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    select ${names} from inventory.locations
    where (priority, id) > ($priority::int8, $id) order by priority, id limit $limit`
})
export const countStockLocations = statement({
  name: 'inventory.count_locations',
  gives: { total: 'int4' },
  text: countUpTo('inventory.locations')
})
export const findStockLocation = statement({
  name: 'inventory.find_location',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from inventory.locations where id = $id`
})
/** Locks all locations (there are few), so concurrent changes are serialized. */
export const lockAllStockLocations = statement({
  name: 'inventory.lock_locations',
  gives: columns,
  text: `select ${names} from inventory.locations order by id for update`
})
/** `priority`: null puts the location last. */
export const insertStockLocation = statement({
  name: 'inventory.insert_location',
  takes: { ...written, priority: 'int4?' },
  text: `
    insert into inventory.locations (id, code, name, address, priority, active)
    values ($id, $code, $name, $address, coalesce($priority,
      (select least(coalesce(max(priority), 0) + 1, 1000000) from inventory.locations)), $active)`
})
export const updateStockLocation = statement({
  name: 'inventory.update_location',
  takes: {
    id: 'uuid',
    name: 'text',
    address: nullableJson<LocationAddress>(),
    priority: 'int4',
    active: 'bool'
  },
  text: `
    update inventory.locations
    set name = $name, address = $address, priority = $priority, active = $active, version = version + 1
    where id = $id`
})
/** Lists the next items with a level at a location, each with its levels at all locations. */
export const listItemsAtLocation = statement({
  name: 'inventory.list_items_at',
  takes: { locationId: 'uuid', after: 'uuid', limit: 'int8' },
  gives: {
    id: 'uuid',
    tracked: 'bool',
    backorder: oneOf<'none' | 'limit' | 'any'>(),
    backorder_limit: 'int4?',
    low_threshold: 'int4?',
    levels: json<(StockLevelQuantities & { isHere: boolean })[]>()
  },
  text: `
    select items.id, items.tracked, items.backorder, items.backorder_limit, items.low_threshold, stock.levels
    from (
      select item_id from inventory.levels
      where location_id = $locationId and item_id > $after order by item_id limit $limit
    ) as here
      join inventory.items on items.id = here.item_id
      cross join lateral (
        select jsonb_agg(jsonb_build_object('onHand', levels.on_hand, 'reserved', levels.reserved,
          'safety', levels.safety, 'active', locations.active, 'isHere', locations.id = $locationId)) as levels
        from inventory.levels join inventory.locations on locations.id = levels.location_id
        where levels.item_id = items.id
      ) as stock
    order by items.id`
})
