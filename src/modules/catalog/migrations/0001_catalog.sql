create schema catalog;

-- The operator class of the trigram indexes is part of a trusted extension, which the owner of a database can
-- create. An installed extension stays in its schema, which the search path then includes.
create extension if not exists pg_trgm with schema catalog;
select set_config('search_path', format('catalog, %I', namespaces.nspname), true)
from pg_extension extensions join pg_namespace namespaces on namespaces.oid = extensions.extnamespace
where extensions.extname = 'pg_trgm';

create table catalog.products (
  id uuid primary key,
  slug text not null constraint products_slug unique,
  name text not null,
  description text not null,
  brand text,
  status text not null constraint products_status check (status in ('draft', 'active', 'archived')),
  tags text[] not null,
  options jsonb not null,
  images jsonb not null,
  -- Name and brand without case and accents, for searching and sorting lists.
  search_text text collate "C" not null,
  -- The lowest present price of the active variants, after discounts. Null: no variant is for sale.
  lowest_price_minor bigint,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index products_active on catalog.products (id) where status = 'active';
create index products_active_by_name on catalog.products (search_text, id) where status = 'active';
create index products_active_by_price on catalog.products (lowest_price_minor, id)
  where status = 'active';
create index products_search_text on catalog.products using gin (search_text gin_trgm_ops);
create index products_tags on catalog.products using gin (tags);

create table catalog.variants (
  id uuid primary key,
  product_id uuid not null constraint variants_product references catalog.products on delete cascade,
  sku text not null constraint variants_sku unique,
  name text not null,
  price_minor bigint not null constraint variants_price check (price_minor >= 0),
  sale_price_minor bigint constraint variants_sale_price check (sale_price_minor >= 0),
  currency text not null,
  attributes jsonb not null,
  image_url text,
  weight_grams int constraint variants_weight check (weight_grams >= 0),
  barcode text,
  active boolean not null,
  position int not null
);
create index variants_product_id on catalog.variants (product_id);
create index variants_sku_text on catalog.variants using gin (lower(sku) gin_trgm_ops);

create table catalog.categories (
  id uuid primary key,
  parent_id uuid constraint categories_parent references catalog.categories,
  slug text not null constraint categories_slug unique,
  name text not null,
  position int not null,
  -- The ids from the root to this category, so that one comparison finds a subtree or a cycle.
  path uuid[] not null constraint categories_depth check (cardinality(path) <= 10)
);
create index categories_parent_id on catalog.categories (parent_id);

create table catalog.product_categories (
  product_id uuid not null constraint product_categories_product references catalog.products on delete cascade,
  category_id uuid not null constraint product_categories_category references catalog.categories on delete cascade,
  -- Whether an import added the link from the product type. Later imports can remove only such links.
  imported boolean not null default false,
  primary key (product_id, category_id)
);
create index product_categories_category_id on catalog.product_categories (category_id);

create table catalog.discounts (
  id uuid primary key,
  name text not null,
  percentage_ppm int constraint discounts_percentage check (percentage_ppm between 1 and 1000000),
  amount_minor bigint constraint discounts_amount check (amount_minor > 0),
  currency text not null,
  product_id uuid constraint discounts_product references catalog.products on delete cascade,
  variant_id uuid constraint discounts_variant references catalog.variants on delete cascade,
  category_id uuid constraint discounts_category references catalog.categories on delete cascade,
  starts_at timestamptz not null,
  ends_at timestamptz,
  active boolean not null,
  created_at timestamptz not null default now(),
  constraint discounts_one_kind check (num_nonnulls(percentage_ppm, amount_minor) = 1),
  constraint discounts_one_target check (num_nonnulls(product_id, variant_id, category_id) = 1),
  constraint discounts_period check (ends_at > starts_at)
);
create index discounts_product_id on catalog.discounts (product_id) where product_id is not null;
create index discounts_variant_id on catalog.discounts (variant_id) where variant_id is not null;
create index discounts_category_id on catalog.discounts (category_id) where category_id is not null;

-- The present and future discounts of each variant, with the seconds until they start (zero or negative:
-- started) and end. A discount on a category includes the categories below it. Uses the time of the
-- statement, because its transaction may have waited for a lock.
create view catalog.variant_discounts as
select
  variant_id, percentage_ppm, amount_minor,
  extract(epoch from starts_at - statement_timestamp())::float8 as starts_in,
  extract(epoch from ends_at - statement_timestamp())::float8 as ends_in
from (
  select variants.id as variant_id, variants.currency as variant_currency, discounts.percentage_ppm,
    discounts.amount_minor, discounts.currency, discounts.starts_at, discounts.ends_at, discounts.active
  from catalog.variants join catalog.discounts on discounts.variant_id = variants.id
  union all
  select variants.id, variants.currency, discounts.percentage_ppm,
    discounts.amount_minor, discounts.currency, discounts.starts_at, discounts.ends_at, discounts.active
  from catalog.variants join catalog.discounts on discounts.product_id = variants.product_id
  union all
  select variants.id, variants.currency, discounts.percentage_ppm,
    discounts.amount_minor, discounts.currency, discounts.starts_at, discounts.ends_at, discounts.active
  from catalog.variants
  join catalog.product_categories on product_categories.product_id = variants.product_id
  join catalog.categories on categories.id = product_categories.category_id
  join catalog.discounts on discounts.category_id = any (categories.path)
) concerning
where active
  and (ends_at is null or ends_at > statement_timestamp())
  and (percentage_ppm is not null or currency = variant_currency);

-- The present price of the cheapest active variant per product and currency: the rule of discounts/pricing.ts
-- in SQL.
create view catalog.lowest_prices as
select
  variants.product_id, variants.currency,
  min(greatest(0, least(
    variants.price_minor, variants.sale_price_minor, variants.price_minor - best.off_minor
  ))) as lowest_price_minor
from catalog.variants
cross join lateral (
  select max(coalesce(
    discounts.amount_minor, (variants.price_minor * discounts.percentage_ppm * 2 + 1000000) / 2000000
  )) as off_minor
  from catalog.variant_discounts discounts
  where discounts.variant_id = variants.id and discounts.starts_in <= 0
) best
where variants.active
group by variants.product_id, variants.currency;

-- One row. Each change of the catalog and each start and end of a discount raises `value`, which the keys of
-- cached pages include. Starts and ends of discounts after `priced_at` are not applied yet.
create table catalog.revision (
  only_row boolean primary key default true constraint revision_only_row check (only_row),
  value bigint not null,
  priced_at timestamptz not null
);
insert into catalog.revision (value, priced_at) values (1, now());

set local search_path to default;
