-- Budgets of failed logins; `full_at` is when a budget is refilled. One per account and network, and one per account for
-- all networks unknown to it; `turn_at` is when such a network may try next.
drop table auth.failed_logins;
create table auth.login_budgets (
  key_hash bytea primary key,
  full_at timestamptz not null,
  turn_at timestamptz
);
create index login_budgets_full_at on auth.login_budgets (full_at);

-- Keyed hashes of networks from which a user logged in.
create table auth.known_networks (
  user_id uuid not null constraint known_networks_user references auth.users on delete cascade,
  network_hash bytea not null,
  seen_at timestamptz not null default now(),
  primary key (user_id, network_hash)
);
create index known_networks_seen_at on auth.known_networks (seen_at);
