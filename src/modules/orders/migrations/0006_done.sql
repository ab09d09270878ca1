-- Shipped and paid orders, for the job that completes them.
create index orders_done on orders.orders (updated_at)
  where state = 'placed' and fulfillment_status in ('fulfilled', 'partially_returned', 'returned', 'not_required')
    and coalesce(payment_status, 'paid') in ('paid', 'partially_refunded', 'refunded')
    and cancel_requested_at is null and held_at is null and not is_disputed;
