import { countUpTo } from '../../../platform/postgres/counting.ts'
import { statement } from '../../../platform/postgres/statement.ts'

const columns = { variant_id: 'uuid', from_quantity: 'int4', price_minor: 'int8' } as const

/** Pages through prices by variant and quantity. */
export const listPricesOfList = statement({
  name: 'pricing.list_prices',
  takes: { list_id: 'uuid', variant_id: 'uuid', from_quantity: 'int8', limit: 'int8' },
  gives: columns,
  text: `
    select variant_id, from_quantity, price_minor from pricing.prices
    where list_id = $list_id and (variant_id, from_quantity) > ($variant_id, $from_quantity::int8)
    order by variant_id, from_quantity limit $limit`
})
export const countPricesOfList = statement({
  name: 'pricing.count_prices',
  takes: { list_id: 'uuid' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo('pricing.prices where list_id = $list_id')
})
/** Pages through the prices of one variant. */
export const listPricesOfVariantInList = statement({
  name: 'pricing.list_prices_of_variant',
  takes: { list_id: 'uuid', only: 'uuid', variant_id: 'uuid', from_quantity: 'int8', limit: 'int8' },
  gives: columns,
  text: `
    select variant_id, from_quantity, price_minor from pricing.prices
    where list_id = $list_id and variant_id = $only and (variant_id, from_quantity) > ($variant_id, $from_quantity::int8)
    order by variant_id, from_quantity limit $limit`
})
export const countPricesOfVariantInList = statement({
  name: 'pricing.count_prices_of_variant',
  takes: { list_id: 'uuid', variant_id: 'uuid' },
  gives: { total: 'int4' },
  text: countUpTo(`pricing.prices where list_id = $list_id and variant_id = $variant_id`)
})
/** Inserts or updates prices of a list, in a fixed order, so that concurrent transactions do not deadlock. */
export const upsertPricesOfList = statement({
  name: 'pricing.set_prices',
  takes: { list_id: 'uuid', variant_ids: 'uuid[]', from_quantities: 'int4[]', prices: 'int8[]' },
  text: `
    insert into pricing.prices (list_id, variant_id, from_quantity, price_minor)
    select $list_id, variant_id, from_quantity, price_minor
    from unnest($variant_ids::uuid[], $from_quantities::int[], $prices::bigint[])
      as given (variant_id, from_quantity, price_minor)
    order by variant_id, from_quantity
    on conflict (list_id, variant_id, from_quantity) do update set price_minor = excluded.price_minor
    where prices.price_minor <> excluded.price_minor`
})
/** Finds one of these variants that has more prices in the list than the limit. */
export const findVariantWithTooManyBreaks = statement({
  name: 'pricing.find_overfull_variant',
  takes: { list_id: 'uuid', variant_ids: 'uuid[]', limit: 'int4' },
  gives: { variant_id: 'uuid' },
  text: `
    select variant_id from pricing.prices where list_id = $list_id and variant_id = any ($variant_ids)
    group by variant_id having count(*) > $limit::int limit 1`
})
/** Deletes prices of a variant from a list. `from_quantity` null: all of them. */
export const deletePricesOfVariantInList = statement({
  name: 'pricing.delete_prices',
  takes: { list_id: 'uuid', variant_id: 'uuid', from_quantity: 'int4?' },
  gives: { from_quantity: 'int4' },
  text: `
    delete from pricing.prices
    where list_id = $list_id and variant_id = $variant_id
      and ($from_quantity::int is null or from_quantity = $from_quantity)
    returning from_quantity`
})
/** Lists the prices of these variants in these lists, by ascending quantity. */
export const listPriceBreaks = statement({
  name: 'pricing.list_breaks',
  takes: { list_ids: 'uuid[]', variant_ids: 'uuid[]' },
  gives: { list_id: 'uuid', ...columns },
  text: `
    select list_id, variant_id, from_quantity, price_minor from pricing.prices
    where list_id = any ($list_ids) and variant_id = any ($variant_ids)
    order by list_id, variant_id, from_quantity`
})
