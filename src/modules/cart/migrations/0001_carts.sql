create schema cart;

-- `cart_id` is the customer's id in a customer's cart, and an id of its own in a guest's cart. Every change
-- locks this row first, so it also has the sums of the items: the count reads this row only.
create table cart.carts (
  cart_id uuid not null,
  version int not null default 0,
  quantity int not null default 0 constraint carts_quantity check (quantity >= 0),
  distinct_count int not null default 0 constraint carts_distinct_count check (distinct_count >= 0),
  updated_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint carts_pkey primary key (cart_id) include (quantity, distinct_count, expires_at)
);
create index carts_expires_at on cart.carts (expires_at) where quantity > 0;

create table cart.items (
  cart_id uuid not null,
  variant_id uuid not null,
  quantity int not null constraint items_quantity check (quantity > 0),
  added_at timestamptz not null default clock_timestamp(),
  constraint items_pkey primary key (cart_id, variant_id),
  constraint items_cart foreign key (cart_id) references cart.carts (cart_id) on delete cascade
);

-- Only the token leads to a guest's cart, and only its SHA-256 is stored. The row of a merged cart stays, so
-- that the merge can be repeated; the cart itself is deleted.
create table cart.guest_carts (
  token_hash bytea not null constraint guest_carts_pkey primary key,
  cart_id uuid not null constraint guest_carts_cart_id unique,
  merged_into uuid,
  created_at timestamptz not null default now(),
  merged_at timestamptz,
  constraint guest_carts_merged check ((merged_into is null) = (merged_at is null))
);
create index guest_carts_merged_at on cart.guest_carts (merged_at) where merged_at is not null;
