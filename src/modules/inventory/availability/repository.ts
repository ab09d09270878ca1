import { statement } from '../../../platform/postgres/statement.ts'

/**
 * Computes how many units of each variant can be bought: free units of its parts at active locations plus
 * the unused backorder limit. Zero without an active location. A variant without parts is its own part.
 * Returns no row for unknown, untracked and unlimited variants.
 */
export const listAvailableQuantities = statement({
  name: 'inventory.list_available',
  takes: { variantIds: 'uuid[]' },
  gives: { variant_id: 'uuid', available: 'int4' },
  text: `
    select wanted.variant_id,
      least(min(available / coalesce(components.quantity, 1)), 2147483647)::int as available
    from unnest($variantIds::uuid[]) as wanted (variant_id)
    left join inventory.components on components.variant_id = wanted.variant_id
    join inventory.items on items.id = coalesce(components.item_id, wanted.variant_id) and items.tracked
    cross join lateral (
      select case
        when not coalesce(bool_or(locations.active), false) then 0
        when items.backorder <> 'any' then
          coalesce(sum(greatest(0, greatest(0, greatest(0, levels.on_hand) - levels.safety) - levels.reserved))
            filter (where locations.active), 0)
          + greatest(0, coalesce(items.backorder_limit, 0)
            - coalesce(sum(greatest(0, levels.reserved - greatest(0, greatest(0, levels.on_hand) - levels.safety))), 0))
        end as available
      from inventory.levels join inventory.locations on locations.id = levels.location_id
      where levels.item_id = items.id
    ) as stock
    group by wanted.variant_id having min(available) is not null`
})
export const existsTrackedInventoryItem = statement({
  name: 'inventory.is_anything_tracked',
  gives: { is_tracked: 'bool' },
  text: 'select exists (select from inventory.items where tracked) as is_tracked'
})
/**
 * Returns the variants whose availability changed since a snapshot, and the current snapshot. Without a
 * snapshot it returns no variants. A transaction that was open then and has committed since is included.
 */
export const listVariantsWithChangedStock = statement({
  name: 'inventory.list_changes',
  takes: { since: 'text?' },
  gives: { snapshot: 'text', variant_ids: 'uuid[]' },
  text: `
    select pg_current_snapshot()::text as snapshot, array(
      select distinct unnest(variant_ids) from inventory.changes
      where xid >= pg_snapshot_xmin($since::text::pg_snapshot) and not pg_visible_in_snapshot(xid, $since::text::pg_snapshot)
    ) as variant_ids`
})
export const deleteOldAvailabilityChanges = statement({
  name: 'inventory.delete_changes',
  takes: { keptSeconds: 'float8', limit: 'int8' },
  text: `
    delete from inventory.changes where ctid = any (array(
      select ctid from inventory.changes where at < now() - make_interval(secs => $keptSeconds) limit $limit))`
})
