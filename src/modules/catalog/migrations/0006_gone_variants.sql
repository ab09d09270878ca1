-- What deleted variants were called, for the carts that still hold them.
create table catalog.gone_variants (
  id uuid primary key,
  name text not null
);
