-- The names of deleted variants, for carts that still contain them.
create table catalog.gone_variants (
  id uuid primary key,
  name text not null
);
