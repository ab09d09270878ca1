-- Second factors. An account is enrolled when `second_factor_at` is set. Before, its row is an unconfirmed enrolment.
alter table auth.users add column second_factor_at timestamptz;
alter table auth.sessions add column second_factor boolean not null default false;

create table auth.second_factors (
  user_id uuid primary key constraint second_factors_user references auth.users on delete cascade,
  -- The secret of RFC 6238, encrypted with a key that is not in the database.
  sealed bytea not null,
  -- The last time step whose code was accepted. Its code and earlier ones are rejected.
  last_step bigint not null default 0,
  created_at timestamptz not null default now()
);

-- SHA-256 of unused recovery codes.
create table auth.recovery_codes (
  user_id uuid not null constraint recovery_codes_factor references auth.second_factors on delete cascade,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

-- Logins with a correct password that still need the second factor. `password_hash` is the one that was checked; no session is
-- opened if the account has another one by then.
create table auth.login_challenges (
  token_hash bytea primary key,
  user_id uuid not null constraint login_challenges_user references auth.users on delete cascade,
  password_hash text not null,
  tries int not null default 0,
  expires_at timestamptz not null
);
create index login_challenges_user_id on auth.login_challenges (user_id);
create index login_challenges_expires_at on auth.login_challenges (expires_at);
