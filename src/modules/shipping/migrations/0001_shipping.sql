create schema shipping;

-- Areas as kernel/areas.ts reads them. An advisory lock guards the check that no two zones have equally specific areas.
create table shipping.zones (
  id uuid not null constraint zones_pkey primary key,
  name text not null,
  areas jsonb not null,
  version int not null default 1,
  created_at timestamptz not null default now()
);

create table shipping.methods (
  id uuid not null constraint methods_pkey primary key,
  kind text not null constraint methods_kind check (kind in ('shipping', 'pickup', 'digital')),
  provider text,
  service text not null,
  days_min int,
  days_max int,
  tax_category text constraint methods_tax_category check (tax_category ~ '^[a-z][a-z0-9_-]{0,63}$'),
  active boolean not null,
  position int not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  constraint methods_id_kind unique (id, kind),
  constraint methods_days check ((days_min is null) = (days_max is null) and days_min <= days_max)
);
create index methods_position on shipping.methods (position, id);

create table shipping.rates (
  id uuid not null constraint rates_pkey primary key,
  method_id uuid not null,
  kind text not null,
  zone_id uuid constraint rates_zone references shipping.zones on delete cascade,
  currency text not null,
  -- Either a fixed amount, or a table by weight, value or number of items.
  amount_minor bigint constraint rates_amount check (amount_minor >= 0),
  price_table jsonb,
  free_from_minor bigint constraint rates_free_from check (free_from_minor >= 0),
  version int not null default 1,
  created_at timestamptz not null default now(),
  constraint rates_method foreign key (method_id, kind) references shipping.methods (id, kind) on delete cascade,
  constraint rates_price check (num_nonnulls(amount_minor, price_table) = 1),
  constraint rates_place check ((kind = 'shipping') = (zone_id is not null)),
  constraint rates_once unique nulls not distinct (method_id, zone_id, currency)
);
create index rates_zone_id on shipping.rates (zone_id) where zone_id is not null;
