-- Prices of a list and of its children are in its currency. `depth`: 1 without a parent.
create table pricing.price_lists (
  id uuid not null constraint price_lists_pkey primary key,
  name text not null,
  currency text not null,
  parent_id uuid,
  adjustment_ppm int not null,                    -- adjustment of the parent's prices; below 0: lowered
  depth int not null constraint price_lists_depth check (depth <= 5),
  version int not null default 1,
  created_at timestamptz not null default now(),
  constraint price_lists_currency unique (id, currency),
  constraint price_lists_parent foreign key (parent_id, currency) references pricing.price_lists (id, currency),
  constraint price_lists_adjustment check (adjustment_ppm = 0 or parent_id is not null)
);
create index price_lists_parent_id on pricing.price_lists (parent_id) where parent_id is not null;

-- Prices of deleted variants stay, because variant ids are opaque here.
create table pricing.prices (
  list_id uuid not null constraint prices_list references pricing.price_lists on delete cascade,
  variant_id uuid not null,
  from_quantity int not null constraint prices_from_quantity check (from_quantity >= 1),
  price_minor bigint not null constraint prices_price check (price_minor >= 0),
  constraint prices_pkey primary key (list_id, variant_id, from_quantity)
);

alter table pricing.markets
  add column price_list_id uuid,
  add constraint markets_price_list foreign key (price_list_id, currency) references pricing.price_lists (id, currency);
create index markets_price_list_id on pricing.markets (price_list_id) where price_list_id is not null;
