-- Each index costs about 6 us of database time per order, so one index serves all queries about a buyer.
create index orders_of_buyer on orders.orders (buyer, state) where state <> 'canceled';
drop index orders.orders_pending_buyer;
drop index orders.orders_buyer;
-- The expiry job walks pending orders by id.
create index orders_pending on orders.orders (id) where state = 'pending';
drop index orders.orders_expires_at;
-- Partial, because orders without a checkout, cart or network are never searched by it.
drop index orders.orders_of_checkout;
create unique index orders_of_checkout on orders.orders (checkout_id)
  where state <> 'canceled' and checkout_id is not null;
drop index orders.orders_of_cart;
create unique index orders_of_cart on orders.orders (cart_id, cart_version)
  where state <> 'canceled' and cart_id is not null;
drop index orders.orders_pending_network;
create index orders_pending_network on orders.orders (network) where state = 'pending' and network is not null;
