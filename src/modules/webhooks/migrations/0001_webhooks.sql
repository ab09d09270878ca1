create schema webhooks;

-- Where others are told what happened in the shop.
create table webhooks.endpoints (
  id uuid not null constraint endpoints_pkey primary key,
  url text not null,
  description text not null,
  -- Null: all that leave the shop.
  event_types text[],
  active boolean not null,
  -- Why the shop itself switched it off.
  disabled_reason text constraint endpoints_disabled_reason check (disabled_reason in ('failing', 'gone')),
  -- Since its first failure after the last success.
  failing_since timestamptz,
  -- Sealed by keys outside of the database.
  secret bytea not null,
  -- The one before, which signs as well until then.
  previous_secret bytea,
  previous_until timestamptz,
  version int not null default 1,
  created_at timestamptz not null default now(),
  constraint endpoints_previous check ((previous_secret is null) = (previous_until is null))
);

-- What an endpoint is told of one event. Its id and its bytes are the same in every try.
create table webhooks.deliveries (
  id uuid not null constraint deliveries_pkey primary key,
  -- It may be deleted meanwhile.
  endpoint_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  subject uuid not null,
  body text not null,
  status text not null default 'pending' constraint deliveries_status
    check (status in ('pending', 'delivered', 'dead', 'superseded', 'canceled')),
  -- Since it was made or asked for again.
  tries int not null default 0,
  -- When it is tried next; while it has a lease, when somebody else may try it.
  due_at timestamptz not null default now(),
  lease uuid,
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  -- However often an event is handled, an endpoint is told once.
  constraint deliveries_event unique (endpoint_id, event_id),
  constraint deliveries_settled check ((status = 'pending') = (settled_at is null))
);
create index deliveries_due on webhooks.deliveries (endpoint_id, due_at) where status = 'pending';
create index deliveries_waiting on webhooks.deliveries (subject, endpoint_id, event_type) where status = 'pending';
create index deliveries_dead on webhooks.deliveries (id) where status = 'dead';
create index deliveries_endpoint on webhooks.deliveries (endpoint_id, id);
create index deliveries_created_at on webhooks.deliveries (created_at);

-- Each try, and what came back.
create table webhooks.attempts (
  id uuid not null constraint attempts_pkey primary key,
  delivery_id uuid not null constraint attempts_delivery references webhooks.deliveries on delete cascade,
  at timestamptz not null,
  -- Null: no answer.
  status_code int,
  ms int not null,
  error text,
  -- Of the answer's body, the first of it.
  answer text
);
create index attempts_delivery_id on webhooks.attempts (delivery_id, id);
