create schema cart;

-- One row a cart; for a guest's cart `customer_id` is the cart's own id. Every change locks this row first, so the
-- row is also where the sums of the items are kept: the count is one index-only look-up.
create table cart.carts (
  customer_id uuid not null,
  version int not null default 0,
  quantity int not null default 0 constraint carts_quantity check (quantity >= 0),
  distinct_count int not null default 0 constraint carts_distinct_count check (distinct_count >= 0),
  updated_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint carts_pkey primary key (customer_id) include (quantity, distinct_count, expires_at)
);
create index carts_expires_at on cart.carts (expires_at) where quantity > 0;

create table cart.items (
  customer_id uuid not null,
  variant_id uuid not null,
  quantity int not null constraint items_quantity check (quantity > 0),
  added_at timestamptz not null default clock_timestamp(),
  constraint items_pkey primary key (customer_id, variant_id),
  constraint items_cart foreign key (customer_id) references cart.carts (customer_id) on delete cascade
);

-- Only the token, of which the SHA-256 is kept, leads to a guest's cart. A merged one is remembered, so that the
-- merge can be repeated; its cart is gone.
create table cart.guest_carts (
  token_hash bytea not null constraint guest_carts_pkey primary key,
  cart_id uuid not null constraint guest_carts_cart_id unique,
  merged_into uuid,
  created_at timestamptz not null default now(),
  merged_at timestamptz,
  constraint guest_carts_merged check ((merged_into is null) = (merged_at is null))
);
create index guest_carts_merged_at on cart.guest_carts (merged_at) where merged_at is not null;
