-- Tax exemptions of customers, with reason, countries and period.
create table pricing.exemptions (
  id uuid not null constraint exemptions_pkey primary key,
  customer_id uuid not null,
  company text not null,
  vat_id text,
  reason text not null,
  countries text[] constraint exemptions_countries check (countries <> '{}'),   -- null: all
  starts_at timestamptz,
  ends_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default now(),
  constraint exemptions_period check (starts_at < ends_at)
);
create index exemptions_customer_id on pricing.exemptions (customer_id, id);
