-- Each index costs every order some 6 us of the database. One for all that is asked of a buyer, instead of two.
create index orders_of_buyer on orders.orders (buyer, state) where state <> 'canceled';
drop index orders.orders_pending_buyer;
drop index orders.orders_buyer;
-- Those that wait for their money are looked through in the order of their ids.
create index orders_pending on orders.orders (id) where state = 'pending';
drop index orders.orders_expires_at;
-- Without a checkout, a cart or a network there is nothing to find.
drop index orders.orders_of_checkout;
create unique index orders_of_checkout on orders.orders (checkout_id)
  where state <> 'canceled' and checkout_id is not null;
drop index orders.orders_of_cart;
create unique index orders_of_cart on orders.orders (cart_id, cart_version)
  where state <> 'canceled' and cart_id is not null;
drop index orders.orders_pending_network;
create index orders_pending_network on orders.orders (network) where state = 'pending' and network is not null;
