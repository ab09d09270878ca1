import { statement } from '../../../platform/postgres/statement.ts'

/**
 * How many of each variant can be bought: of its parts what is free at the locations that are in use, and what of the
 * backorder limit is not used up over all of them; nothing without such a location, from which it would be sent. A variant
 * without parts is its own. No row: not known, not tracked, or any number.
 */
export const listAvailable = statement({
  name: 'inventory.list_available',
  takes: { variantIds: 'uuid[]' },
  gives: { variant_id: 'uuid', available: 'int4' },
  text: `
    with parts as (
      select wanted.variant_id, coalesce(components.item_id, wanted.variant_id) as item_id,
        coalesce(components.quantity, 1) as quantity
      from unnest($variantIds::uuid[]) as wanted (variant_id)
      left join inventory.components on components.variant_id = wanted.variant_id
    ), free as (
      select parts.variant_id, parts.quantity, (
        select case
          when not coalesce(bool_or(locations.active), false) then 0
          when items.backorder <> 'any' then
            coalesce(sum(greatest(0, levels.on_hand - levels.safety - levels.reserved))
              filter (where locations.active), 0)
            + greatest(0, coalesce(items.backorder_limit, 0)
              - coalesce(sum(greatest(0, levels.reserved - greatest(0, levels.on_hand - levels.safety))), 0))
          end
        from inventory.levels join inventory.locations on locations.id = levels.location_id
        where levels.item_id = items.id
      ) as available
      from parts join inventory.items on items.id = parts.item_id where items.tracked
    )
    select variant_id, least(min(available / quantity), 2147483647)::int as available
    from free where available is not null group by variant_id`
})
export const isAnythingTracked = statement({
  name: 'inventory.is_anything_tracked',
  gives: { is_tracked: 'bool' },
  text: 'select exists (select from inventory.items where tracked) as is_tracked'
})
