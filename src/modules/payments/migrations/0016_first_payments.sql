-- The first payment of an order has its id, so the primary key finds it.
drop index payments.payments_order_id;
create index payments_order_id on payments.payments (order_id) where id <> order_id;
