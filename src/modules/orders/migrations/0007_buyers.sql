-- Finds earlier orders of a buyer.
create index orders_buyer on orders.orders (buyer) where state <> 'canceled';
