-- Systems poll for changed orders, oldest change first.
create index orders_updated on orders.orders (updated_at, id);
