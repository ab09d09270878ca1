-- Which deliveries a promotion of shipping takes something off.
alter table pricing.promotions
  add column shipping_method_ids uuid[],
  add column cheapest_only boolean not null default false,
  add constraint promotions_shipping check (
    class = 'shipping' or (shipping_method_ids is null and not cheapest_only));
