-- Copies data of variants and categories to the product, so that lists filter one table, even with wrong
-- estimates of the planner. Repricing updates these columns with the lowest price.
alter table catalog.products
  -- The SKUs of all variants in lower case, one per line.
  add column sku_text text collate "C" not null default '',
  -- The categories of the product, and all categories above them.
  add column category_ids uuid[] not null default '{}';

create view catalog.list_columns as
select
  products.id as product_id,
  coalesce((
    select string_agg(lower(sku), E'\n' order by sku collate "C")
    from catalog.variants where variants.product_id = products.id
  ), '') collate "C" as sku_text,
  array(
    select distinct unnest(categories.path)
    from catalog.product_categories
    join catalog.categories on categories.id = product_categories.category_id
    where product_categories.product_id = products.id
    order by 1
  ) as category_ids
from catalog.products;

update catalog.products set sku_text = list_columns.sku_text, category_ids = list_columns.category_ids
from catalog.list_columns where list_columns.product_id = products.id;

select set_config('search_path', format('catalog, %I', namespaces.nspname), true)
from pg_extension extensions join pg_namespace namespaces on namespaces.oid = extensions.extnamespace
where extensions.extname = 'pg_trgm';
create index products_sku_text on catalog.products using gin (sku_text gin_trgm_ops);
set local search_path to default;

create index products_category_ids on catalog.products using gin (category_ids);
drop index catalog.variants_sku_text;
