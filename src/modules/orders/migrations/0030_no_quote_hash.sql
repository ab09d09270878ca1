-- Nothing read it. That of a checkout is compared when the order is placed.
alter table orders.orders drop column quote_hash;
