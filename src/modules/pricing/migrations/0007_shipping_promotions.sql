-- The deliveries that a shipping promotion applies to.
alter table pricing.promotions
  add column shipping_method_ids uuid[],
  add column cheapest_only boolean not null default false,
  add constraint promotions_shipping check (
    class = 'shipping' or (shipping_method_ids is null and not cheapest_only));
