-- `orders_figures` begins with the same column, so it finds the orders of a period, too.
drop index orders.orders_created_at;

-- Only pending orders are counted per buyer. An order leaves the index when it is placed. The predicate repeats the condition of the
-- statement, so that PostgreSQL does not use the index of all pending orders in its place.
drop index orders.orders_of_buyer;
create index orders_pending_buyer on orders.orders (buyer) where state between 'pending' and 'pending';

-- History is read per order only, so one index is the primary key and finds the rows of an order.
alter table orders.history
  drop constraint history_pkey,
  add constraint history_pkey primary key (order_id, id);
drop index orders.history_order_id;
