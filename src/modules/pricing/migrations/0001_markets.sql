create schema pricing;

-- Requests, orders and files reference a market by `code`, so it cannot change.
create table pricing.markets (
  id uuid not null constraint markets_pkey primary key,
  code text not null constraint markets_code unique,
  name text not null,
  is_default boolean not null default false,
  currency text not null,
  prices_include_tax boolean not null,
  tax_rounding text not null constraint markets_tax_rounding check (tax_rounding in ('group', 'line', 'unit')),
  cash_rounding int not null constraint markets_cash_rounding check (cash_rounding >= 1), -- minor units; 1: none
  locale text not null,
  active boolean not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  constraint markets_default_active check (active or not is_default)
);
create unique index markets_default on pricing.markets (is_default) where is_default;

create table pricing.market_countries (
  country text not null constraint market_countries_pkey primary key,
  market_id uuid not null constraint market_countries_market references pricing.markets on delete cascade,
  position int not null                          -- the first one is assumed for a buyer without a destination
);
create index market_countries_market_id on pricing.market_countries (market_id);
