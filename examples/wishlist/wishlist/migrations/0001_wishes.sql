create schema wishlist;

create table wishlist.wishes (
  id uuid not null,
  customer_id uuid not null,
  variant_id uuid not null,
  wished_at timestamptz not null default now(),
  constraint wishes_pkey primary key (customer_id, id),
  constraint wishes_variant unique (customer_id, variant_id)
);
