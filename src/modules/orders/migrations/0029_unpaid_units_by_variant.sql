-- The lines of an order name its variants, so one index finds the units of a variant and those of an order.
drop index orders.unpaid_units_variant;
alter table orders.unpaid_units drop constraint unpaid_units_pkey;
alter table orders.unpaid_units add constraint unpaid_units_pkey primary key (variant_id, order_id);
