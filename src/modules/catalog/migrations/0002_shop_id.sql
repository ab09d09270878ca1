-- Tells this shop's pages from those of others in a cache that they share.
alter table catalog.revision add column shop_id uuid not null default gen_random_uuid();
