-- Before a start the shop counts open orders whose tenders no module can refund any more.
create index orders_live_tendered on orders.orders (id) where tendered > 0 and state in ('pending', 'placed');
