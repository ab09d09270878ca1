-- When the address was verified, and the previous address, which is notified of a change.
alter table auth.users
  add column email_verified_at timestamptz,
  add column former_email text,
  add column email_changed_at timestamptz,
  add column locale text;
create index users_email_changed_at on auth.users (email_changed_at) where former_email is not null;

-- Tokens that are sent by mail: one per user and purpose, so that a new request replaces the previous token. The token is
-- derived from the id with a secret that is not in the database. Using a token deletes its row.
create table auth.one_time_tokens (
  user_id uuid not null constraint one_time_tokens_user references auth.users on delete cascade,
  purpose text not null constraint one_time_tokens_purpose check (purpose in ('email', 'password')),
  id uuid not null constraint one_time_tokens_id unique,
  email text not null,
  expires_at timestamptz not null,
  primary key (user_id, purpose)
);
create index one_time_tokens_expires_at on auth.one_time_tokens (expires_at);
