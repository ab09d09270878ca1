-- One row for each request that came with an Idempotency-Key. `fingerprint` and `key_hash` are SHA-256; the answer
-- is encrypted with a key derived from the idempotency key itself, which is not stored.
create table cartwright.idempotency_keys (
  key_hash bytea primary key,
  fingerprint bytea not null,
  state text not null constraint idempotency_keys_state check (state in ('running', 'applied', 'done')),
  lease uuid not null,
  lease_until timestamptz not null,
  status int,
  answer bytea,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index idempotency_keys_expires_at on cartwright.idempotency_keys (expires_at);
