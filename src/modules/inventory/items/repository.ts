import { countUpTo } from '../../../platform/postgres/counting.ts'
import { json, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'

type Part = { item_id: string; quantity: number }
type Backorder = 'none' | 'limit' | 'any'

const columns = {
  id: 'uuid',
  sku: 'text?',
  tracked: 'bool',
  backorder: oneOf<Backorder>(),
  backorder_limit: 'int4?',
  low_threshold: 'int4?',
  version: 'int4',
  updated_at: 'timestamptz'
} as const
const names = Object.keys(columns).join(', ')
const { sku: _, version: _version, updated_at: _at, ...policy } = columns
const shown = { ...columns, components: json<Part[]>() }
const components = `
  (select coalesce(jsonb_agg(jsonb_build_object('item_id', item_id, 'quantity', quantity) order by item_id), '[]')
  from inventory.components where variant_id = items.id) as components`

/** Pages through items before `after`. Null filters match all. */
export const listInventoryItems = statement({
  name: 'inventory.list_all_items',
  takes: { sku: 'text?', tracked: 'bool?', after: 'uuid', limit: 'int8' },
  gives: shown,
  slow: true,
  text: `
    select ${names}, ${components} from inventory.items
    where id < $after and ($sku::text is null or sku = $sku) and ($tracked::bool is null or tracked = $tracked)
    order by id desc limit $limit`
})
export const countInventoryItems = statement({
  name: 'inventory.count_all_items',
  takes: { sku: 'text?', tracked: 'bool?' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`inventory.items
    where ($sku::text is null or sku = $sku) and ($tracked::bool is null or tracked = $tracked)`)
})
export const findInventoryItem = statement({
  name: 'inventory.find_item',
  takes: { id: 'uuid' },
  gives: shown,
  text: `select ${names}, ${components} from inventory.items where id = $id`
})
export const lockInventoryItem = statement({
  name: 'inventory.lock_item',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from inventory.items where id = $id for no key update`
})
/** Inserts an unknown item, untracked. */
export const insertInventoryItem = statement({
  name: 'inventory.insert_item',
  takes: { id: 'uuid' },
  text: 'insert into inventory.items (id) values ($id) on conflict (id) do nothing'
})
export const updateInventoryItem = statement({
  name: 'inventory.update_item',
  takes: policy,
  text: `
    update inventory.items set tracked = $tracked, backorder = $backorder, backorder_limit = $backorder_limit,
      low_threshold = $low_threshold, version = version + 1, updated_at = now()
    where id = $id`
})
export const incrementInventoryItemVersion = statement({
  name: 'inventory.raise_item_version',
  takes: { id: 'uuid' },
  text: 'update inventory.items set version = version + 1, updated_at = now() where id = $id'
})

/** Inserts unknown items; existing ones stay unchanged. */
export const insertInventoryItems = statement({
  name: 'inventory.insert_items',
  takes: { ids: 'uuid[]' },
  text: `
    insert into inventory.items (id) select id from unnest($ids::uuid[]) as item (id) order by id
    on conflict (id) do nothing`
})
/**
 * Locks items ordered by id, so concurrent transactions cannot deadlock. `no key update` lets the writer
 * insert levels that reference them.
 */
export const lockInventoryItems = statement({
  name: 'inventory.lock_items',
  takes: { ids: 'uuid[]' },
  gives: columns,
  text: `select ${names} from inventory.items where id = any ($ids) order by id for no key update`
})
/** Updates items. An empty `skus` value, or a `limits` or `thresholds` value below 0, stands for null. */
export const updateInventoryItems = statement({
  name: 'inventory.update_items',
  takes: {
    ids: 'uuid[]',
    skus: 'text[]',
    tracked: 'bool[]',
    backorders: 'text[]',
    limits: 'int4[]',
    thresholds: 'int4[]'
  },
  text: `
    update inventory.items set sku = nullif(fresh.sku, ''), tracked = fresh.tracked, backorder = fresh.backorder,
      backorder_limit = case when fresh.backorder_limit >= 0 then fresh.backorder_limit end,
      low_threshold = case when fresh.low_threshold >= 0 then fresh.low_threshold end,
      version = version + 1, updated_at = now()
    from unnest($ids::uuid[], $skus::text[], $tracked::bool[], $backorders::text[], $limits::int4[],
        $thresholds::int4[])
      as fresh (id, sku, tracked, backorder, backorder_limit, low_threshold)
    where items.id = fresh.id`
})
/**
 * Lists items without levels that are in no kit. Items in a kit are left out, because their first count
 * does not notify the kit.
 */
export const listItemsWithoutLevels = statement({
  name: 'inventory.list_fresh_items',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid' },
  text: `
    select id from unnest($ids::uuid[]) as item (id)
    where not exists (select from inventory.levels where item_id = item.id)
      and not exists (select from inventory.components where item_id = item.id)`
})
/** Lists the kits that contain these items. */
export const listKitsOfItems = statement({
  name: 'inventory.list_kits_of_items',
  takes: { ids: 'uuid[]' },
  gives: { item_id: 'uuid', variant_id: 'uuid' },
  text: 'select item_id, variant_id from inventory.components where item_id = any ($ids) order by item_id, variant_id'
})

/** Lists stock policies, with the units on hand at the location with the lowest priority number. */
export const listItemPoliciesWithFirstLocationStock = statement({
  name: 'inventory.list_described',
  takes: { ids: 'uuid[]' },
  gives: { id: columns.id, tracked: columns.tracked, backorder: columns.backorder, on_hand: 'int4?' },
  text: `
    select items.id, items.tracked, items.backorder, levels.on_hand
    from inventory.items
    left join inventory.levels on levels.item_id = items.id and levels.location_id =
      (select id from inventory.locations where active order by priority, id limit 1)
    where items.id = any ($ids)`
})
export const findDefaultLocation = statement({
  name: 'inventory.find_first_location',
  gives: { id: 'uuid' },
  text: 'select id from inventory.locations where active order by priority, id limit 1'
})

/** Serializes changes of kits, so two kits cannot become parts of each other. */
export const lockKitChanges = statement({
  name: 'inventory.lock_components',
  text: `select pg_advisory_xact_lock(hashtextextended('inventory.components', 0))`
})
/** Returns whether one of the parts is a kit, or this item is a part of another kit. */
export const wouldKitBeNested = statement({
  name: 'inventory.is_nested',
  takes: { id: 'uuid', itemIds: 'uuid[]' },
  gives: { is_nested: 'bool' },
  text: `
    select exists (select from inventory.components where variant_id = any ($itemIds))
      or cardinality($itemIds::uuid[]) > 0 and exists (select from inventory.components where item_id = $id) as is_nested`
})
export const deleteKitComponents = statement({
  name: 'inventory.delete_components',
  takes: { id: 'uuid' },
  text: 'delete from inventory.components where variant_id = $id'
})
export const insertKitComponents = statement({
  name: 'inventory.insert_components',
  takes: { id: 'uuid', itemIds: 'uuid[]', quantities: 'int4[]' },
  text: `
    insert into inventory.components (variant_id, item_id, quantity)
    select $id, item_id, quantity from unnest($itemIds::uuid[], $quantities::int4[]) as part (item_id, quantity)`
})
/**
 * SQL for the available quantity of each of `items`, as in `list_available`. Zero without an active
 * location.
 */
const available = `
  cross join lateral (
    select case when coalesce(bool_or(locations.active), false) then
      coalesce(sum(greatest(0, greatest(0, greatest(0, levels.on_hand) - levels.safety) - levels.reserved))
        filter (where locations.active), 0)
      + greatest(0, coalesce(items.backorder_limit, 0)
        - coalesce(sum(greatest(0, levels.reserved - greatest(0, greatest(0, levels.on_hand) - levels.safety))), 0))
      else 0 end as available
    from inventory.levels join inventory.locations on locations.id = levels.location_id
    where levels.item_id = items.id
  ) as stock`
const isLow = `
  items.tracked and items.backorder <> 'any' and coalesce(stock.available <= items.low_threshold, false)`

/** Marks which of these items are low in stock, so that a list of them reads no other items. */
export const updateItemLowStockMarks = statement({
  name: 'inventory.mark_low_stock',
  takes: { ids: 'uuid[]' },
  text: `
    update inventory.items set is_low = marks.is_low
    from (
      select items.id, ${isLow} as is_low from inventory.items ${available} where items.id = any ($ids)
    ) as marks
    where items.id = marks.id and items.is_low <> marks.is_low`
})
/** Lists items whose low-stock mark contradicts their stock. */
export const listWrongLowStockMarks = statement({
  name: 'inventory.list_wrongly_marked',
  gives: { id: 'uuid' },
  slow: true,
  primaryOnly: true,
  text: `select items.id from inventory.items ${available} where items.is_low <> (${isLow}) order by items.id`
})
export const listLowStockItems = statement({
  name: 'inventory.list_low_stock',
  takes: { after: 'uuid', limit: 'int8' },
  gives: { id: 'uuid', sku: 'text?', available: 'int4', low_threshold: 'int4' },
  slow: true,
  text: `
    select items.id, items.sku, least(stock.available, 2147483647)::int as available,
      coalesce(items.low_threshold, 0) as low_threshold
    from inventory.items ${available}
    where items.is_low and items.id < $after and ${isLow}
    order by items.id desc limit $limit`
})
export const countLowStockItems = statement({
  name: 'inventory.count_low_stock',
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo('inventory.items where is_low')
})
export type InventoryItemRow = RowOf<typeof lockInventoryItem>
