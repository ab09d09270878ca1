create schema orders;

-- What somebody said that they want to buy. What it costs is not kept: it is computed whenever it is asked for.
create table orders.checkouts (
  id uuid not null constraint checkouts_pkey primary key,
  -- Null: a guest's, whose token is made from the id by a secret outside of the database.
  customer_id uuid,
  -- One that is open expires; nobody has to write that down.
  status text not null constraint checkouts_status check (status in ('open', 'canceled')),
  version int not null default 1,
  -- What the client said, replaced as a whole.
  input jsonb not null,
  -- Of the price that this version was answered with.
  quote_hash text not null,
  -- The cart that its lines are from, as it was.
  cart_id uuid,
  cart_version int,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint checkouts_cart check ((cart_id is null) = (cart_version is null))
);
create index checkouts_expires_at on orders.checkouts (expires_at);
