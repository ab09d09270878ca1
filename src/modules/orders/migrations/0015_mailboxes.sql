-- The keyed hash of the mailbox of a guest's e-mail address, or of the account's: paid orders of it count as those of one buyer.
alter table orders.orders add column mailbox text;
update orders.orders set mailbox = buyer where buyer is distinct from customer_id::text and erased_at is null;
create index orders_of_mailbox on orders.orders (mailbox) where mailbox is not null;
