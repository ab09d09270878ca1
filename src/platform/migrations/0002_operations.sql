-- What a request makes has the same id in each of its tries: drawn at the first claim of its key, kept when the key is
-- given back. `result_id` is what it made, or found, when that is another one.
alter table cartwright.idempotency_keys
  add column operation_id uuid not null default gen_random_uuid(),
  add column result_id uuid;
alter table cartwright.idempotency_keys alter column operation_id drop default;
alter table cartwright.idempotency_keys drop constraint idempotency_keys_state;
alter table cartwright.idempotency_keys add constraint idempotency_keys_state
  check (state in ('running', 'free', 'applied', 'done'));

-- Who changed what: one row for each request of an administrator that may change something. It is written in the
-- transaction of the change, and gets its status with the answer.
create table cartwright.audit (
  id uuid primary key,
  at timestamptz not null default now(),
  actor uuid not null,
  method text not null,
  route text not null,
  params jsonb not null,
  request_id text not null,
  status int
);
create index audit_at on cartwright.audit (at);
create index audit_actor on cartwright.audit (actor, at);
