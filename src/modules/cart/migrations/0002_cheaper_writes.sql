-- A change of a cart updates no index: the primary key no longer includes the sums, and carts that can expire
-- have an index. An empty cart of a customer never expires.
alter table cart.items drop constraint items_cart;
alter table cart.carts drop constraint carts_pkey;
alter table cart.carts add constraint carts_pkey primary key (cart_id);
alter table cart.items add constraint items_cart
  foreign key (cart_id) references cart.carts (cart_id) on delete cascade;

drop index cart.carts_expires_at;
update cart.carts set expires_at = 'infinity'
where quantity = 0 and not exists (select from cart.guest_carts where guest_carts.cart_id = carts.cart_id);
create index carts_expires_at on cart.carts (expires_at) where expires_at < 'infinity';

-- Leaves room on each page for new versions of its rows (HOT updates).
alter table cart.carts set (fillfactor = 80);
alter table cart.items set (fillfactor = 90);
