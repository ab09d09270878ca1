create extension if not exists btree_gist with schema pricing;

-- Tax categories. Variants and shipping methods reference one by code, which cannot change.
create table pricing.tax_categories (
  id uuid not null constraint tax_categories_pkey primary key,
  code text not null constraint tax_categories_code unique,
  name text not null,
  version int not null default 1,
  created_at timestamptz not null default now()
);
-- The default category.
insert into pricing.tax_categories (id, code, name) values (gen_random_uuid(), 'standard', 'Standard');

create table pricing.tax_zones (
  id uuid not null constraint tax_zones_pkey primary key,
  name text not null,
  country text not null,
  region text,
  postal_pattern text,
  version int not null default 1,
  created_at timestamptz not null default now(),
  constraint tax_zones_place unique nulls not distinct (country, region, postal_pattern)
);

-- A zone has one rate per category at a time.
create table pricing.tax_rates (
  id uuid not null constraint tax_rates_pkey primary key,
  zone_id uuid not null constraint tax_rates_zone references pricing.tax_zones,
  category text not null constraint tax_rates_category references pricing.tax_categories (code),
  name text not null,
  rate_ppm int not null constraint tax_rates_rate check (rate_ppm between 0 and 1000000),
  starts_at timestamptz,
  ends_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default now(),
  constraint tax_rates_period check (starts_at < ends_at),
  constraint tax_rates_overlap exclude using gist (
    zone_id with =, category with =, tstzrange(starts_at, ends_at) with &&)
);
create index tax_rates_category_code on pricing.tax_rates (category);
