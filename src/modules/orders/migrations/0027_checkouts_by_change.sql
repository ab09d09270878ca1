-- PostgreSQL logs an update from the first byte that differs to the last. So what the pages of a checkout change comes last, in the order
-- in which they change it: the choice of a shipping option logs neither lines nor addresses.
create table orders.new_checkouts (
  id uuid not null,
  -- Null: a guest, who proves access by a token of the id.
  customer_id uuid,
  created_at timestamptz not null default now(),
  status text not null constraint checkouts_status check (status in ('open', 'canceled')),
  -- The cart of the lines, if the client named it.
  cart_id uuid,
  cart_version int,
  -- Without fields that are null or an empty list, and without the shipping option.
  input jsonb not null,
  shipping_option text,
  quote_hash bytea not null,
  version int not null default 1,
  updated_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint checkouts_cart check ((cart_id is null) = (cart_version is null))
) with (fillfactor = 60);
insert into orders.new_checkouts (id, customer_id, created_at, status, cart_id, cart_version, input, shipping_option, quote_hash, version,
  updated_at, expires_at)
select id, customer_id, created_at, status, cart_id, cart_version,
  (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(input) where value not in ('null', '[]') and key <> 'shippingOption'),
  input ->> 'shippingOption', decode(quote_hash, 'hex'), version, updated_at, expires_at
from orders.checkouts order by id;
drop table orders.checkouts;
alter table orders.new_checkouts rename to checkouts;
alter table orders.checkouts add constraint checkouts_pkey primary key (id);
create index checkouts_created_at on orders.checkouts (created_at);
