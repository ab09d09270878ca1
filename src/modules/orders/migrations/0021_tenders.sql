-- Gift cards, store credit and the like that cover a part or all of an order. Their balances are in the module that provides
-- their type. `refunded` is what the tender got back.
create table orders.tenders (
  id uuid not null constraint tenders_pkey primary key,
  order_id uuid not null constraint tenders_order references orders.orders (id),
  position int not null,
  type text not null,
  label text not null,
  amount bigint not null constraint tenders_amount check (amount > 0),
  refunded bigint not null default 0 constraint tenders_refunded check (refunded between 0 and amount),
  constraint tenders_position unique (order_id, position)
);
-- What tenders cover of the total, so that orders without tenders never read the table. It does not change with refunds.
alter table orders.orders add column tendered bigint not null default 0
  constraint orders_tendered check (tendered between 0 and total);
