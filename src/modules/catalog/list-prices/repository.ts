import { nullableJson, statement } from '../../../platform/postgres/statement.ts'
import type { CatalogVariantDiscount } from '../discounts/pricing.ts'

/** Lists the active variants of these products in a currency, with the inputs of their prices. */
export const listVariantPriceInputs = statement({
  name: 'catalog.list_priced_variants',
  takes: { ids: 'uuid[]', currency: 'text' },
  gives: {
    id: 'uuid',
    product_id: 'uuid',
    price_minor: 'int8',
    sale_price_minor: 'int8?',
    quantity_min: 'int4',
    discounts: nullableJson<CatalogVariantDiscount[]>()
  },
  text: `
    select id, product_id, price_minor, sale_price_minor, quantity_min,
      (select jsonb_agg(to_jsonb(discounts))
       from catalog.variant_discounts discounts where discounts.variant_id = variants.id) as discounts
    from catalog.variants
    where product_id = any ($ids) and active and currency = $currency`
})
/** Replaces the prices of these products in these lists. Returns the number of rows that changed. */
export const replaceLowestListPricesOfProducts = statement({
  name: 'catalog.put_list_prices',
  takes: {
    ids: 'uuid[]',
    lists: 'uuid[]',
    productIds: 'uuid[]',
    listIds: 'uuid[]',
    currencies: 'text[]',
    lowestPrices: 'int8[]',
    fullPrices: 'int8[]',
    counts: 'int4[]'
  },
  gives: { changed: 'int4' },
  text: `
    with fresh as (
      select * from unnest(
        $productIds::uuid[], $listIds::uuid[], $currencies::text[], $lowestPrices::bigint[], $fullPrices::bigint[], $counts::int[])
        as given (product_id, list_id, lowest_price_currency, lowest_price_minor, lowest_full_price_minor, variant_count)
    ), written as (
      insert into catalog.list_prices as kept (
        product_id, list_id, lowest_price_currency, lowest_price_minor, lowest_full_price_minor, variant_count)
      select product_id, list_id, lowest_price_currency, lowest_price_minor, lowest_full_price_minor, variant_count from fresh
      on conflict (product_id, list_id) do update set
        lowest_price_currency = excluded.lowest_price_currency, lowest_price_minor = excluded.lowest_price_minor,
        lowest_full_price_minor = excluded.lowest_full_price_minor, variant_count = excluded.variant_count
      where (kept.lowest_price_currency, kept.lowest_price_minor, kept.lowest_full_price_minor, kept.variant_count)
        is distinct from (
          excluded.lowest_price_currency, excluded.lowest_price_minor, excluded.lowest_full_price_minor, excluded.variant_count)
      returning 1
    ), gone as (
      delete from catalog.list_prices
      where product_id = any ($ids) and list_id = any ($lists)
        and (product_id, list_id) not in (select product_id, list_id from fresh)
      returning 1
    )
    select (select count(*) from written)::int + (select count(*) from gone)::int as changed`
})
/** Deletes the prices in all lists except these. */
export const deletePricesExceptOfPriceLists = statement({
  name: 'catalog.delete_other_list_prices',
  takes: { lists: 'uuid[]' },
  text: 'delete from catalog.list_prices where list_id <> all ($lists)'
})
