-- Who requested a cancellation that is pending, and since when shipping is on hold.
alter table orders.orders
  add column cancel_requested_by text constraint orders_cancel_requested_by
    check (cancel_requested_by in ('customer', 'guest', 'admin', 'system')),
  add column held_at timestamptz,
  add constraint orders_cancel_requested check ((cancel_requested_at is null) = (cancel_requested_by is null));

-- Shipped units that were refunded.
alter table orders.lines
  add column refunded int not null default 0 constraint lines_refunded check (refunded >= 0 and refunded <= fulfilled);

-- Credits of canceled units or refunds. Rows are never changed.
create table orders.adjustments (
  id uuid not null constraint adjustments_pkey primary key,
  order_id uuid not null constraint adjustments_order references orders.orders (id),
  kind text not null constraint adjustments_kind check (kind in ('cancel', 'refund')),
  amount bigint not null constraint adjustments_amount check (amount >= 0),
  -- The part of the credit that is refunded.
  back bigint not null constraint adjustments_back check (back >= 0),
  reason text,
  -- Null: a guest, or the shop itself.
  actor uuid,
  at timestamptz not null default now()
);
create index adjustments_order_id on orders.adjustments (order_id);

-- A part belongs to a line, to the delivery of a group, or without both to the cash rounding.
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

-- Shipments.
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

-- The status for buyers, by which administrators filter lists. It equals `statusOf` in the code.
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
