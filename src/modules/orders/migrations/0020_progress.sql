-- The last change of an order other than of its metadata. Completion and the retention of guest data count from it, so modules
-- that write metadata do not delay them.
alter table orders.orders add column progressed_at timestamptz not null default now();
update orders.orders set progressed_at = updated_at;
drop index orders.orders_done, orders.orders_guests_closed;
create index orders_done on orders.orders (progressed_at)
  where state = 'placed' and fulfillment_status in ('fulfilled', 'partially_returned', 'returned', 'not_required')
    and coalesce(payment_status, 'paid') in ('paid', 'partially_refunded', 'refunded')
    and cancel_requested_at is null and held_at is null and not is_disputed;
create index orders_guests_closed on orders.orders (progressed_at)
  where customer_id is null and erased_at is null and state in ('completed', 'canceled');
