-- Administrators list orders by any two of these together. With one index each, two statuses that no order has together were found
-- out by reading all orders that have one of them.
create index orders_status_payment on orders.orders (status, payment_status, id);
create index orders_status_fulfillment on orders.orders (status, fulfillment_status, id);
create index orders_payment_fulfillment on orders.orders (payment_status, fulfillment_status, id);

-- The planner takes statuses for independent without it, and expects to meet such orders soon on a walk through all.
create statistics orders.orders_statuses (mcv) on status, payment_status, fulfillment_status from orders.orders;
analyze orders.orders;

-- Figures of a period add up its orders without reading their rows, and only what was canceled since it began.
create index orders_figures on orders.orders (created_at) include (currency, state, placed_at, total, id);
create index adjustments_canceled on orders.adjustments (at) include (order_id, amount) where kind = 'cancel';
