create table pricing.promotions (
  id uuid not null constraint promotions_pkey primary key,
  name text not null,
  class text not null constraint promotions_class check (class in ('line', 'order', 'shipping')),
  priority int not null,
  active boolean not null,
  starts_at timestamptz,
  ends_at timestamptz,
  needs_code boolean not null,
  minimum jsonb,                                  -- amounts by currency
  minimum_quantity int not null,
  product_ids uuid[],                             -- with category_ids: lines it applies to; both null: all
  category_ids uuid[],
  first_order_only boolean not null,
  customer_group text,
  effect jsonb not null,
  combines text[] not null,
  uses_per_customer int constraint promotions_uses_per_customer check (uses_per_customer >= 1),
  version int not null default 1,
  created_at timestamptz not null default now(),
  constraint promotions_period check (starts_at < ends_at),
  constraint promotions_effect check (
    case effect ->> 'type' when 'fixed_price' then class <> 'order' when 'free_shipping' then class = 'shipping' else true end)
);
create index promotions_automatic on pricing.promotions (id) where active and not needs_code;

-- Markets that a promotion is limited to; without rows, all.
create table pricing.promotion_markets (
  promotion_id uuid not null constraint promotion_markets_promotion references pricing.promotions on delete cascade,
  market text not null constraint promotion_markets_market references pricing.markets (code),
  constraint promotion_markets_pkey primary key (promotion_id, market)
);
create index promotion_markets_market on pricing.promotion_markets (market);

-- `code` is stored in normalized form.
create table pricing.codes (
  id uuid not null constraint codes_pkey primary key,
  promotion_id uuid not null constraint codes_promotion references pricing.promotions on delete cascade,
  code text not null constraint codes_code unique,
  batch_id uuid,                                  -- codes of one batch
  active boolean not null default true,
  created_at timestamptz not null default now()
);
create index codes_promotion_id on pricing.codes (promotion_id, id);

-- Usage limits and uses of promotions and codes. A narrow table of its own, because many transactions update
-- the same few rows.
create table pricing.usage_limits (
  id uuid not null constraint usage_limits_pkey primary key,      -- of the promotion or code
  uses_max int,
  taken int not null default 0 constraint usage_limits_taken check (taken >= 0), -- counted only with a limit
  constraint usage_limits_uses check (taken <= uses_max)
) with (fillfactor = 50);

-- Uses of promotions: inserted with the order, deleted when it is canceled. `customer`: an account, or the
-- keyed hash of an address.
create table pricing.redemptions (
  owner uuid not null,
  promotion_id uuid not null constraint redemptions_promotion references pricing.promotions,
  code_id uuid constraint redemptions_code references pricing.codes,
  customer text not null,
  redeemed_at timestamptz not null default now(),
  constraint redemptions_pkey primary key (owner, promotion_id)
);
create index redemptions_promotion_id on pricing.redemptions (promotion_id, owner);
create index redemptions_code_id on pricing.redemptions (code_id) where code_id is not null;

create table pricing.customer_uses (
  promotion_id uuid not null constraint customer_uses_promotion references pricing.promotions on delete cascade,
  customer text not null,
  taken int not null constraint customer_uses_taken check (taken >= 0),
  constraint customer_uses_pkey primary key (promotion_id, customer)
);
create index customer_uses_customer on pricing.customer_uses (customer);

-- The first order of a customer: of two simultaneous orders one gets the row.
create table pricing.first_orders (
  customer text not null constraint first_orders_pkey primary key,
  owner uuid not null
);
