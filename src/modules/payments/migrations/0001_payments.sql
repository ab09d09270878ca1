create schema payments;

-- The payment account of an order. Every change of the order's payments locks this row first.
create table payments.accounts (
  order_id uuid not null constraint accounts_pkey primary key,
  -- Null: a guest, who proves access with the token of the order.
  customer_id uuid,
  -- Raised to invalidate earlier tokens of the order.
  token_version int not null default 1,
  currency text not null,
  due bigint not null constraint accounts_due check (due >= 0),
  -- Amount that payments may capture or have captured, so that no two payments cover the same amount.
  committed bigint not null default 0,
  -- From here on: sums of facts. No constraint may reject them, because facts have happened.
  authorized bigint not null default 0,
  captured bigint not null default 0,
  refunding bigint not null default 0,
  refunded bigint not null default 0,
  disputed bigint not null default 0,
  status text not null default 'unpaid' constraint accounts_status
    check (status in ('unpaid', 'authorized', 'partially_paid', 'paid', 'partially_refunded', 'refunded')),
  is_overpaid boolean not null default false,
  is_disputed boolean not null default false,
  -- The order is being canceled: no payment may start or be captured.
  frozen_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table payments.payments (
  id uuid not null constraint payments_pkey primary key,
  order_id uuid not null constraint payments_order references payments.accounts (order_id),
  customer_id uuid,
  provider text not null,
  method text not null,
  amount bigint not null constraint payments_amount check (amount > 0),
  currency text not null,
  -- The id of the payment at the provider, once it is known.
  object_id text,
  -- What the customer needs to pay, encrypted.
  next_step bytea,
  status text not null default 'pending' constraint payments_status check (status in (
    'pending', 'requires_action', 'authorized', 'succeeded', 'failed', 'canceled', 'partially_refunded', 'refunded')),
  -- The payment can still be captured.
  is_open boolean not null default true,
  authorized bigint not null default 0,
  captured bigint not null default 0,
  refunding bigint not null default 0,
  refunded bigint not null default 0,
  disputed bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint payments_object unique (provider, object_id)
);
create index payments_order_id on payments.payments (order_id);
create index payments_customer on payments.payments (customer_id, id) where customer_id is not null;

-- Requests to providers, sent or to be sent. The id is the idempotency key at the provider.
create table payments.operations (
  id uuid not null constraint operations_pkey primary key,
  payment_id uuid not null constraint operations_payment references payments.payments (id),
  order_id uuid not null,
  provider text not null,
  kind text not null constraint operations_kind check (kind in ('create', 'capture', 'void', 'refund')),
  amount bigint not null,
  state text not null default 'started' constraint operations_state
    check (state in ('started', 'unknown', 'succeeded', 'failed')),
  -- The request bytes, the same for every retry. Encrypted, and erased once the operation is settled.
  request bytea,
  -- The id of the object that it created at the provider, such as a refund.
  object_id text,
  error text,
  reason text,
  actor uuid,
  attempts int not null default 0,
  sent_at timestamptz,
  next_check_at timestamptz,
  settled_at timestamptz,
  created_at timestamptz not null default now(),
  constraint operations_open check ((state in ('started', 'unknown')) = (settled_at is null)),
  constraint operations_checked check ((settled_at is null) = (next_check_at is not null)),
  constraint operations_erased check (settled_at is null or request is null)
);
create index operations_payment_id on payments.operations (payment_id);
create index operations_due on payments.operations (next_check_at) where settled_at is null;
-- One open capture and one open void per payment, because the next one depends on the result.
create unique index operations_one on payments.operations (payment_id, kind)
  where settled_at is null and kind in ('capture', 'void');

-- The latest fact that a provider reported of each of its objects.
create table payments.facts (
  provider text not null,
  kind text not null,
  object_id text not null,
  payment_id uuid not null constraint facts_payment references payments.payments (id),
  rank int not null,
  status text not null,
  amount bigint not null,
  currency text not null,
  source text not null constraint facts_source check (source in ('answer', 'poll', 'callback', 'shop')),
  seen_at timestamptz not null default now(),
  constraint facts_pkey primary key (provider, kind, object_id)
);
create index facts_payment_id on payments.facts (payment_id);

-- Callbacks as received, each once.
create table payments.events (
  id uuid not null constraint events_pkey primary key,
  provider text not null,
  event_id text not null,
  type text not null,
  state text not null default 'received' constraint events_state
    check (state in ('received', 'applied', 'ignored', 'quarantined', 'discarded')),
  reason text,
  payment_id uuid,
  -- Encrypted, and erased after 90 days. The row stays, so that a repeated callback is recognized.
  raw bytea,
  attempts int not null default 0,
  next_check_at timestamptz,
  received_at timestamptz not null default now(),
  constraint events_once unique (provider, event_id)
);
create index events_due on payments.events (next_check_at) where next_check_at is not null;
create index events_state on payments.events (state, id);
create index events_raw on payments.events (received_at) where raw is not null;
