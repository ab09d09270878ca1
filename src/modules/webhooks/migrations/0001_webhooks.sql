create schema webhooks;

-- Receivers of webhooks.
create table webhooks.endpoints (
  id uuid not null constraint endpoints_pkey primary key,
  url text not null,
  description text not null,
  -- Null: all event types.
  event_types text[],
  active boolean not null,
  -- Why the shop disabled the endpoint.
  disabled_reason text constraint endpoints_disabled_reason check (disabled_reason in ('failing', 'gone')),
  -- Time of the first failure after the last success.
  failing_since timestamptz,
  -- Encrypted by keys outside of the database.
  secret bytea not null,
  -- Also signs until `previous_until`.
  previous_secret bytea,
  previous_until timestamptz,
  version int not null default 1,
  created_at timestamptz not null default now(),
  constraint endpoints_previous check ((previous_secret is null) = (previous_until is null))
);

-- One event for one endpoint. Every attempt sends the same id and body.
create table webhooks.deliveries (
  id uuid not null constraint deliveries_pkey primary key,
  -- Without a foreign key, because deliveries outlive a deleted endpoint.
  endpoint_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  subject uuid not null,
  body text not null,
  status text not null default 'pending' constraint deliveries_status
    check (status in ('pending', 'delivered', 'dead', 'superseded', 'canceled')),
  -- Attempts since it was created or replayed.
  tries int not null default 0,
  -- Time of the next attempt. With a lease: when another process may claim it.
  due_at timestamptz not null default now(),
  lease uuid,
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  -- An event that is handled again adds no delivery.
  constraint deliveries_event unique (endpoint_id, event_id),
  constraint deliveries_settled check ((status = 'pending') = (settled_at is null))
);
create index deliveries_due on webhooks.deliveries (endpoint_id, due_at) where status = 'pending';
create index deliveries_waiting on webhooks.deliveries (subject, endpoint_id, event_type) where status = 'pending';
create index deliveries_dead on webhooks.deliveries (id) where status = 'dead';
create index deliveries_endpoint on webhooks.deliveries (endpoint_id, id);
create index deliveries_created_at on webhooks.deliveries (created_at);

-- Requests and the beginning of their responses.
create table webhooks.attempts (
  id uuid not null constraint attempts_pkey primary key,
  delivery_id uuid not null constraint attempts_delivery references webhooks.deliveries on delete cascade,
  at timestamptz not null,
  -- Null: no response.
  status_code int,
  ms int not null,
  error text,
  -- Beginning of the response body.
  answer text
);
create index attempts_delivery_id on webhooks.attempts (delivery_id, id);
