-- Shipments of an order, one per group, with the shipping option as the buyer chose it.
create table shipping.shipments (
  id uuid not null constraint shipments_pkey primary key,
  order_id uuid not null,
  -- Null: a guest.
  customer_id uuid,
  group_key text not null,
  method text not null constraint shipments_method check (method in ('shipping', 'pickup')),
  option_id text not null,
  provider text,
  service text not null,
  days_min int,
  days_max int,
  status text not null default 'pending'
    constraint shipments_status check (status in ('pending', 'in_transit', 'delivered', 'returned')),
  carrier text,
  tracking_number text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint shipments_days check ((days_min is null) = (days_max is null))
);
create index shipments_order_id on shipping.shipments (order_id, id);
