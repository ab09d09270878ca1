-- A keyed hash of the mailbox of the buyer's email address. Paid orders with the same mailbox count as orders of one buyer.
alter table orders.orders add column mailbox text;
update orders.orders set mailbox = buyer where buyer is distinct from customer_id::text and erased_at is null;
create index orders_of_mailbox on orders.orders (mailbox) where mailbox is not null;
