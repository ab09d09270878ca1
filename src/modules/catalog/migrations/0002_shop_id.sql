-- Separates the pages of this shop from those of other shops in a shared cache.
alter table catalog.revision add column shop_id uuid not null default gen_random_uuid();
