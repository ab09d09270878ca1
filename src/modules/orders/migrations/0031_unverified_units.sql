-- Units of all rows of orders.unpaid_units whose buyer has no verified email address. Without this total, each order with a
-- deferred payment read the units of all unpaid orders.
create table orders.unverified_units (
  is_only boolean not null default true constraint unverified_units_pkey primary key constraint unverified_units_only check (is_only),
  units bigint not null
);
insert into orders.unverified_units (units)
select coalesce(sum(units), 0) from orders.unpaid_units where not is_verified;

-- `buyer`: the last 22 characters of orders.orders.buyer, which tell buyers apart. Nothing read the time.
update orders.unpaid_units set buyer = right(buyer, 22);
alter table orders.unpaid_units drop column at;
