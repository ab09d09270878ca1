-- Orders paid by bank transfer, on delivery or on account reserve stock before any money moves. How much is limited.
alter table orders.orders
  add column is_deferred boolean not null default false,          -- such a payment was started; stays true
  add column is_buyer_verified boolean not null default false;    -- the buyer's email address was verified by then

-- Units of counted variants that these orders still reserve. A row is deleted when its order is paid, canceled or shipped.
create table orders.unpaid_units (
  order_id uuid not null constraint unpaid_units_order references orders.orders (id),
  variant_id uuid not null,
  units int not null constraint unpaid_units_units check (units > 0),
  buyer text not null,             -- as orders.orders.buyer
  network text,                    -- a keyed hash of the client network
  is_verified boolean not null,
  at timestamptz not null default now(),
  constraint unpaid_units_pkey primary key (order_id, variant_id)
);
create index unpaid_units_variant on orders.unpaid_units (variant_id);
create index unpaid_units_buyer on orders.unpaid_units (buyer);
create index unpaid_units_network on orders.unpaid_units (network) where network is not null;

-- When staff were last notified that unpaid orders reserve much stock.
create table orders.unpaid_alerts (
  is_only boolean not null default true constraint unpaid_alerts_pkey primary key constraint unpaid_alerts_only check (is_only),
  at timestamptz not null
);
