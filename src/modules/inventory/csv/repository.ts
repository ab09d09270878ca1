import { statement } from '../../../platform/postgres/statement.ts'

/** Lists the levels of the next items after `after`. An item without levels is a row without a location. */
export const listStockExportRows = statement({
  name: 'inventory.list_exported',
  takes: { after: 'uuid', items: 'int8' },
  gives: {
    variant_id: 'uuid',
    sku: 'text?',
    location: 'text?',
    on_hand: 'int4?',
    safety: 'int4?',
    tracked: 'bool',
    backorder: 'text',
    backorder_limit: 'int4?',
    low_threshold: 'int4?',
    reserved: 'int4?',
    available: 'int4?'
  },
  slow: true,
  text: `
    select items.id as variant_id, items.sku, locations.code as location, levels.on_hand, levels.safety,
      items.tracked, items.backorder, items.backorder_limit, items.low_threshold, levels.reserved,
      case when locations.active then greatest(0, greatest(0, greatest(0, levels.on_hand) - levels.safety) - levels.reserved)
        when not locations.active then 0 end as available
    from (
      select id, sku, tracked, backorder, backorder_limit, low_threshold from inventory.items
      where id > $after order by id limit $items
    ) as items
    left join inventory.levels on levels.item_id = items.id
    left join inventory.locations on locations.id = levels.location_id
    order by items.id, locations.priority, locations.id`
})
/** Lists all locations: at most 100. */
export const listAllStockLocations = statement({
  name: 'inventory.list_places',
  gives: { id: 'uuid', code: 'text', name: 'text', active: 'bool' },
  text: 'select id, code, name, active from inventory.locations order by priority, id'
})
export const listVariantIdsBySku = statement({
  name: 'inventory.list_ids_of_skus',
  takes: { skus: 'text[]' },
  gives: { sku: 'text?', id: 'uuid' },
  text: 'select sku, id from inventory.items where sku = any ($skus)'
})
