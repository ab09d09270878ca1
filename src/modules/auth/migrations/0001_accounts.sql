create schema auth;

-- Accounts. `email` is a login name only for accounts with a password. For users of external issuers it is for display: it
-- links no accounts and does not reserve the address.
create table auth.users (
  id uuid primary key,
  email text,
  name text,
  role text not null constraint users_role check (role in ('customer', 'admin')),
  password_hash text,
  disabled_at timestamptz,
  created_at timestamptz not null default now(),
  constraint users_password_has_email check (password_hash is null or email is not null)
);
create unique index users_email_unique on auth.users (lower(email)) where password_hash is not null;
create index users_admins on auth.users (id) where role = 'admin';

-- Users at external issuers, identified by (issuer, subject) only.
create table auth.external_identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null constraint external_identities_user references auth.users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index external_identities_user_id on auth.external_identities (user_id);

-- Ending a session deletes its row, and its tokens with it.
create table auth.sessions (
  id uuid primary key,
  user_id uuid not null constraint sessions_user references auth.users on delete cascade,
  user_agent text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_user_id on auth.sessions (user_id, id);

-- SHA-256 of every refresh token of an active session. Used ones stay, to detect reuse.
create table auth.refresh_tokens (
  token_hash bytea primary key,
  session_id uuid not null constraint refresh_tokens_session references auth.sessions on delete cascade,
  used_at timestamptz
);
create index refresh_tokens_session_id on auth.refresh_tokens (session_id);

-- Failed logins and password checks; `key_hash` is the SHA-256 of the attempted account, which may not exist.
create table auth.failed_logins (
  key_hash bytea primary key,
  failures int not null,
  started_at timestamptz not null default now()
);
create index failed_logins_started_at on auth.failed_logins (started_at);

create table auth.invitations (
  id uuid primary key,
  code_hash bytea not null constraint invitations_code unique,
  created_by uuid constraint invitations_creator references auth.users on delete set null,
  used_by uuid constraint invitations_user references auth.users on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index invitations_expires_at on auth.invitations (expires_at);

-- Keys that sign access tokens. The newest key whose `signs_from` has passed signs. `generation` makes processes that
-- rotate simultaneously agree on one successor.
create table auth.signing_keys (
  kid text primary key,
  generation int not null constraint signing_keys_generation unique,
  private_jwk jsonb not null,
  created_at timestamptz not null default now(),
  signs_from timestamptz not null
);
