-- `orders_figures` begins with the same column, so it finds the orders of a period, too.
drop index orders.orders_created_at;

-- Only pending orders are counted per buyer. An order leaves the index when it is placed. The predicate repeats the condition of the
-- statement, so that PostgreSQL does not use the index of all pending orders in its place.
drop index orders.orders_of_buyer;
create index orders_pending_buyer on orders.orders (buyer) where state between 'pending' and 'pending';
