-- Whether somebody has ordered before.
create index orders_buyer on orders.orders (buyer) where state <> 'canceled';
