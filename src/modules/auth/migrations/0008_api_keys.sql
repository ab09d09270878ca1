-- What machines show for a token of an administrator: the SHA-256 of a secret, which is told once.
create table auth.api_keys (
  id uuid primary key,
  user_id uuid not null constraint api_keys_user references auth.users on delete cascade,
  key_hash bytea not null constraint api_keys_key unique,
  name text not null,
  -- What it is good for, of what its owner may do; null: all of that.
  scopes text[],
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  last_used_at timestamptz
);
create index api_keys_user_id on auth.api_keys (user_id, id);
create index api_keys_expires_at on auth.api_keys (expires_at);
