-- `operation_id` is the id of what a request creates, the same in each attempt: drawn when the key is first claimed, kept
-- when it is released. `result_id` is what the request created or found, when that differs.
alter table cartwright.idempotency_keys
  add column operation_id uuid not null default gen_random_uuid(),
  add column result_id uuid;
alter table cartwright.idempotency_keys alter column operation_id drop default;
alter table cartwright.idempotency_keys drop constraint idempotency_keys_state;
alter table cartwright.idempotency_keys add constraint idempotency_keys_state
  check (state in ('running', 'free', 'applied', 'done'));

-- The audit log: one row for each writing request of an administrator. It is inserted in the transaction of the change, and
-- its status is set with the response.
create table cartwright.audit (
  id uuid constraint audit_pkey primary key,
  at timestamptz not null default now(),
  actor uuid not null,
  method text not null,
  route text not null,
  params jsonb not null,
  request_id text not null,
  status int
) partition by range (id);
create table cartwright.audit_default partition of cartwright.audit default;
select cartwright.create_partitions('cartwright.audit', 'month', now(), 3);
create index audit_at on cartwright.audit (at);
create index audit_actor on cartwright.audit (actor, at);
