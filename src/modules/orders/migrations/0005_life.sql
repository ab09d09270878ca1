-- Who wants it canceled, and that nothing is sent until somebody has looked.
alter table orders.orders
  add column cancel_requested_by text constraint orders_cancel_requested_by
    check (cancel_requested_by in ('customer', 'guest', 'admin', 'system')),
  add column held_at timestamptz,
  add constraint orders_cancel_requested check ((cancel_requested_at is null) = (cancel_requested_by is null));

-- Sent, and paid back all the same.
alter table orders.lines
  add column refunded int not null default 0 constraint lines_refunded check (refunded >= 0 and refunded <= fulfilled);

-- What is not to be paid after all: canceled, or paid back. Nothing of it is ever changed.
create table orders.adjustments (
  id uuid not null constraint adjustments_pkey primary key,
  order_id uuid not null constraint adjustments_order references orders.orders (id),
  kind text not null constraint adjustments_kind check (kind in ('cancel', 'refund')),
  amount bigint not null constraint adjustments_amount check (amount >= 0),
  -- What of it had been paid, and goes back.
  back bigint not null constraint adjustments_back check (back >= 0),
  reason text,
  -- Null: the shop itself, or a guest.
  actor uuid,
  at timestamptz not null default now()
);
create index adjustments_order_id on orders.adjustments (order_id);

-- Of a line; or of the delivery of a group; or, without any, of what rounding had added.
create table orders.adjustment_parts (
  adjustment_id uuid not null constraint adjustment_parts_adjustment references orders.adjustments (id),
  position int not null,
  line int,
  group_key text,
  units int not null,
  amount bigint not null,
  tax bigint not null,
  rate_ppm int,
  tax_category text,
  constraint adjustment_parts_pkey primary key (adjustment_id, position)
);

-- What is on its way.
create table orders.shipments (
  id uuid not null constraint shipments_pkey primary key,
  order_id uuid not null constraint shipments_order references orders.orders (id),
  carrier text,
  tracking_number text,
  lines jsonb not null,
  actor uuid,
  at timestamptz not null default now()
);
create index shipments_order_id on orders.shipments (order_id);

-- The one word for shoppers, which lists of administrators are filtered by; `statusOf` says the same.
alter table orders.orders add column status text not null generated always as (
  case
    when state in ('pending', 'completed', 'canceled') then state
    when fulfillment_status in ('fulfilled', 'partially_returned', 'returned') then 'shipped'
    when payment_status in ('authorized', 'paid', 'partially_refunded', 'refunded') then 'paid'
    else 'pending'
  end
) stored;
create index orders_status on orders.orders (status, id);
create index orders_payment_status on orders.orders (payment_status, id);
create index orders_fulfillment_status on orders.orders (fulfillment_status, id);
create index orders_email on orders.orders (lower(email), id) where email is not null;
create index orders_created_at on orders.orders (created_at, id);
