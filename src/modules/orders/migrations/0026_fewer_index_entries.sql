-- Each index of two statuses leaves out the pairs of most new orders. Of the orders with the first or the second status of such a
-- pair, nearly all have both, so the index of one status finds them.
drop index orders.orders_status_payment;
create index orders_status_payment on orders.orders (status, payment_status, id)
  where (status <> 'pending' or payment_status <> 'unpaid') and (status <> 'paid' or payment_status <> 'paid');
drop index orders.orders_status_fulfillment;
create index orders_status_fulfillment on orders.orders (status, fulfillment_status, id)
  where fulfillment_status <> 'none' or (status <> 'pending' and status <> 'paid');
drop index orders.orders_payment_fulfillment;
create index orders_payment_fulfillment on orders.orders (payment_status, fulfillment_status, id)
  where payment_status <> 'unpaid' or fulfillment_status <> 'none';

-- The last seven characters of a hash or UUID find it. A whole hash makes each entry 48 bytes longer.
drop index orders.orders_of_mailbox;
create index orders_of_mailbox on orders.orders (right(mailbox, 7)) where mailbox is not null;
drop index orders.orders_pending_buyer;
-- `buyer is not null` keeps PostgreSQL from reading this index whole to find the orders of a network.
create index orders_pending_buyer on orders.orders (right(buyer, 7))
  where state between 'pending' and 'pending' and buyer is not null;
drop index orders.orders_pending_network;
create index orders_pending_network on orders.orders (right(network, 7))
  where state between 'pending' and 'pending' and network is not null;
drop index orders.unpaid_units_buyer;
create index unpaid_units_buyer on orders.unpaid_units (right(buyer, 7));
drop index orders.unpaid_units_network;
create index unpaid_units_network on orders.unpaid_units (right(network, 7)) where network is not null;
