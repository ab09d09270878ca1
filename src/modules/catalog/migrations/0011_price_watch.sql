-- Indexes find the next start or end of a discount, and those that have passed, without reading all
-- discounts.
create index discounts_starts_at on catalog.discounts (starts_at) where active;
create index discounts_ends_at on catalog.discounts (ends_at) where active and ends_at is not null;

-- The currency of the shop for which the lowest prices of all products were computed last.
alter table catalog.revision add column currency text;
