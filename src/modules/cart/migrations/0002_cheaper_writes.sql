-- A change of a cart touches no index: the sums leave the primary key, and what may expire is found by an index of its
-- own. An empty cart of a customer never expires; there is nothing in it.
alter table cart.items drop constraint items_cart;
alter table cart.carts drop constraint carts_pkey;
alter table cart.carts add constraint carts_pkey primary key (customer_id);
alter table cart.items add constraint items_cart
  foreign key (customer_id) references cart.carts (customer_id) on delete cascade;

drop index cart.carts_expires_at;
update cart.carts set expires_at = 'infinity'
where quantity = 0 and not exists (select from cart.guest_carts where cart_id = customer_id);
create index carts_expires_at on cart.carts (expires_at) where expires_at < 'infinity';

-- Room on each page for the next version of its rows.
alter table cart.carts set (fillfactor = 80);
alter table cart.items set (fillfactor = 90);
