-- Administrators filter by any two of these. With one index per status, a pair that no order has was found by reading all orders with
-- one of the two.
create index orders_status_payment on orders.orders (status, payment_status, id);
create index orders_status_fulfillment on orders.orders (status, fulfillment_status, id);
create index orders_payment_fulfillment on orders.orders (payment_status, fulfillment_status, id);

-- Without these statistics the planner takes the statuses for independent, and expects a scan of all orders to find matches early.
create statistics orders.orders_statuses (mcv) on status, payment_status, fulfillment_status from orders.orders;
analyze orders.orders;

-- Statistics of a period read only the index of its orders, and only adjustments since its begin.
create index orders_figures on orders.orders (created_at) include (currency, state, placed_at, total, id);
create index adjustments_canceled on orders.adjustments (at) include (order_id, amount) where kind = 'cancel';
