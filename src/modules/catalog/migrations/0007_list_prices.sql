-- Stores all prices that lists show with the product, so that a list reads one table.
alter table catalog.products
  -- The currency of the lowest price.
  add column lowest_price_currency text,
  -- The price of the cheapest variant without discounts.
  add column lowest_full_price_minor bigint,
  -- The number of active variants in that currency.
  add column variant_count int not null default 0;

create or replace view catalog.lowest_prices as
select
  product_id, currency, min(sold_minor) as lowest_price_minor,
  (array_agg(price_minor order by sold_minor, price_minor))[1] as lowest_full_price_minor,
  count(*)::int as variant_count
from (
  select
    variants.product_id, variants.currency, variants.price_minor,
    greatest(0, least(
      variants.price_minor, variants.sale_price_minor, variants.price_minor - best.off_minor
    )) as sold_minor
  from catalog.variants
  cross join lateral (
    select max(coalesce(
      discounts.amount_minor, (variants.price_minor * discounts.percentage_ppm * 2 + 1000000) / 2000000
    )) as off_minor
    from catalog.variant_discounts discounts
    where discounts.variant_id = variants.id and discounts.starts_in <= 0
  ) best
  where variants.active
) offered
group by product_id, currency;

-- SQL does not know the currency of the shop, which is in its configuration. It is the currency of the stored
-- lowest price.
update catalog.products set
  lowest_price_currency = fresh.currency, lowest_full_price_minor = fresh.lowest_full_price_minor,
  variant_count = fresh.variant_count
from catalog.lowest_prices fresh
where fresh.product_id = products.id and fresh.lowest_price_minor = products.lowest_price_minor;
