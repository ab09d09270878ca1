-- The tax engine of the shop when the order was placed, and whether its taxes or the rates of the shop apply. Null: no engine.
alter table orders.orders add column tax_engine jsonb;
