-- SHA-256 of API keys, which programs exchange for access tokens. The key is shown once.
create table auth.api_keys (
  id uuid primary key,
  user_id uuid not null constraint api_keys_user references auth.users on delete cascade,
  key_hash bytea not null constraint api_keys_key unique,
  name text not null,
  -- Restricts the permissions of the owner; null: all of them.
  scopes text[],
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  last_used_at timestamptz
);
create index api_keys_user_id on auth.api_keys (user_id, id);
create index api_keys_expires_at on auth.api_keys (expires_at);
