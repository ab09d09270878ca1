alter table auth.users
  add column phone text,
  add column marketing_consent_at timestamptz;

-- Saved addresses for shipping and billing, in the format of order addresses.
create table auth.addresses (
  id uuid primary key,
  user_id uuid not null constraint addresses_user references auth.users on delete cascade,
  address jsonb not null,
  default_shipping boolean not null,
  default_billing boolean not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index addresses_user_id on auth.addresses (user_id, id);
create unique index addresses_default_shipping on auth.addresses (user_id) where default_shipping;
create unique index addresses_default_billing on auth.addresses (user_id) where default_billing;
