-- Templates of administrators. They replace the built-in ones, or add languages.
create table notifications.templates (
  name text not null,
  locale text not null,
  subject text not null,
  body_text text not null,
  body_html text not null,
  version int not null default 1,
  updated_at timestamptz not null default now(),
  constraint templates_pkey primary key (name, locale)
);

-- Suppression list. bounced: no mail is sent to the address. unsubscribed: no optional mail is sent.
-- Addresses are stored as keyed hashes, and masked for administrators.
create table notifications.suppressions (
  id uuid not null constraint suppressions_pkey primary key,
  address_hash text not null,
  address_masked text not null,
  reason text not null constraint suppressions_reason check (reason in ('bounced', 'unsubscribed')),
  -- Consecutive bounces.
  times int not null default 1,
  created_at timestamptz not null default now(),
  constraint suppressions_one unique (address_hash, reason)
);
