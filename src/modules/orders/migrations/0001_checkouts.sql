create schema orders;

-- The input of a buyer. The price is not stored; it is calculated for each request.
create table orders.checkouts (
  id uuid not null constraint checkouts_pkey primary key,
  -- Null: a guest. The token is a MAC of the id with a secret outside of the database.
  customer_id uuid,
  -- An open checkout expires by `expires_at`, without a change of its status.
  status text not null constraint checkouts_status check (status in ('open', 'canceled')),
  version int not null default 1,
  -- The input of the client. Each write replaces it.
  input jsonb not null,
  -- The hash of the price in the response to the last write.
  quote_hash text not null,
  -- The cart, in the version that was read, from which the lines come.
  cart_id uuid,
  cart_version int,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint checkouts_cart check ((cart_id is null) = (cart_version is null))
);
create index checkouts_expires_at on orders.checkouts (expires_at);
