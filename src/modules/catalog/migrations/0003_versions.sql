-- The version that If-Match is compared with. Each change raises it.
alter table catalog.categories add column version int not null default 1;
alter table catalog.discounts add column version int not null default 1;
