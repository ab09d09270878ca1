-- Whether a variant is in stock. A handler of `inventory.crossed` updates it; it is true when stock is not
-- counted. A product is in stock when one of its active variants is.
alter table catalog.variants add column in_stock boolean not null default true;
alter table catalog.products add column in_stock boolean not null default true;

create or replace view catalog.list_columns as
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
  ) as category_ids,
  exists (
    select from catalog.variants
    where variants.product_id = products.id and variants.active and variants.in_stock
  ) as in_stock
from catalog.products;

update catalog.products set in_stock = false
where not exists (select from catalog.variants where variants.product_id = products.id and variants.active);
-- Indexes only products that are out of stock, because they are fewer.
create index products_out_of_stock on catalog.products (id) where status = 'active' and not in_stock;
