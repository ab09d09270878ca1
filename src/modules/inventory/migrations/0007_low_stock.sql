-- Low stock depends on an item and all its levels, so no index finds it. The flag is updated when one of
-- them changes.
alter table inventory.items add column is_low boolean not null default false;
update inventory.items set is_low = true
from (
  select items.id
  from inventory.items cross join lateral (
    select case when coalesce(bool_or(locations.active), false) then
      coalesce(sum(greatest(0, greatest(0, greatest(0, levels.on_hand) - levels.safety) - levels.reserved))
        filter (where locations.active), 0)
      + greatest(0, coalesce(items.backorder_limit, 0)
        - coalesce(sum(greatest(0, levels.reserved - greatest(0, greatest(0, levels.on_hand) - levels.safety))), 0))
      else 0 end as available
    from inventory.levels join inventory.locations on locations.id = levels.location_id
    where levels.item_id = items.id
  ) as stock
  where items.tracked and items.backorder <> 'any' and stock.available <= items.low_threshold
) as low
where items.id = low.id;
create index items_low on inventory.items (id) where is_low;
