import { type RowOf, statement } from '../../../platform/postgres/statement.ts'

/**
 * Locks products, ordered by id to prevent deadlocks. The next transaction that reprices them sees all
 * changes.
 */
export const lockProductRows = statement({
  name: 'catalog.lock_products',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid' },
  text: 'select id from catalog.products where id = any ($ids) order by id for update'
})
/** Locks the products of these variants, ordered by id like all locks of products. */
export const lockProductsOfVariants = statement({
  name: 'catalog.lock_products_of_variants',
  takes: { variantIds: 'uuid[]' },
  gives: { id: 'uuid' },
  text: `
    select id from catalog.products
    where id in (select product_id from catalog.variants where id = any ($variantIds))
    order by id for update`
})
/** Locks those products that no other transaction has locked. */
export const lockProductsSkippingLocked = statement({
  name: 'catalog.lock_free_products',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid' },
  text: 'select id from catalog.products where id = any ($ids) order by id for update skip locked'
})
// Columns of products that copy data of variants and categories, for lists.
const listColumns = (name: string) =>
  `${name}.lowest_price_minor, ${name}.lowest_price_currency, ${name}.lowest_full_price_minor, ${name}.variant_count,
      ${name}.sku_text, ${name}.category_ids, ${name}.in_stock`
const freshColumns = `
      select list_columns.product_id, lowest_price_minor, currency as lowest_price_currency, lowest_full_price_minor,
        coalesce(variant_count, 0) as variant_count, sku_text, category_ids, in_stock
      from catalog.list_columns
      left join catalog.lowest_prices
        on lowest_prices.product_id = list_columns.product_id and lowest_prices.currency = $currency
        and lowest_prices.product_id = any ($ids)
      where list_columns.product_id = any ($ids)`

/** Updates the list columns of these (locked) products: lowest prices, SKUs, categories, stock. */
export const updateProductListColumns = statement({
  name: 'catalog.reprice_products',
  takes: { ids: 'uuid[]', currency: 'text' },
  text: `
    update catalog.products set
      lowest_price_minor = fresh.lowest_price_minor, lowest_price_currency = fresh.lowest_price_currency,
      lowest_full_price_minor = fresh.lowest_full_price_minor, variant_count = fresh.variant_count,
      sku_text = fresh.sku_text, category_ids = fresh.category_ids, in_stock = fresh.in_stock
    from (${freshColumns}
    ) fresh
    where products.id = fresh.product_id
      and (${listColumns('products')})
        is distinct from (${listColumns('fresh')})`
})
/** Lists which of these products have wrong list columns. */
export const listMispricedProducts = statement({
  name: 'catalog.list_mispriced_products',
  takes: { ids: 'uuid[]', currency: 'text' },
  gives: { id: 'uuid' },
  slow: true,
  primaryOnly: true,
  text: `
    select products.id
    from catalog.products
    join (${freshColumns}
    ) fresh on fresh.product_id = products.id
    where products.id = any ($ids)
      and (${listColumns('products')})
        is distinct from (${listColumns('fresh')})`
})
export const listProductIdsAfter = statement({
  name: 'catalog.list_product_ids',
  takes: { after: 'uuid', limit: 'int8' },
  gives: { id: 'uuid' },
  text: 'select id from catalog.products where id > $after order by id limit $limit'
})
/** Lists the products of a category and of those below it. */
export const listCategorySubtreeProductIdsAfter = statement({
  name: 'catalog.list_product_ids_below',
  takes: { category: 'uuid', after: 'uuid', limit: 'int8' },
  gives: { id: 'uuid' },
  slow: true,
  primaryOnly: true,
  text: `
    select id from catalog.products
    where id > $after and exists (
      select from catalog.product_categories
      join catalog.categories on categories.id = product_categories.category_id
      where product_categories.product_id = products.id and $category = any (categories.path))
    order by id limit $limit`
})
export const findExistingCategoryId = statement({
  name: 'catalog.find_category_id',
  takes: { id: 'uuid' },
  gives: { id: 'uuid' },
  text: 'select id from catalog.categories where id = $id'
})
/** Lists products with a discount whose start or end has passed since the last repricing. */
export const listProductsWithDueDiscounts = statement({
  name: 'catalog.list_due_products',
  takes: { limit: 'int8' },
  gives: { id: 'uuid' },
  text: `
    with due as (
      select discounts.product_id, discounts.variant_id, discounts.category_id
      from catalog.revision
      join catalog.discounts on discounts.active and starts_at > priced_at and starts_at <= statement_timestamp()
      union
      select discounts.product_id, discounts.variant_id, discounts.category_id
      from catalog.revision
      join catalog.discounts on discounts.active and ends_at > priced_at and ends_at <= statement_timestamp()
    )
    select product_id as id from due where product_id is not null
    union
    select variants.product_id from due join catalog.variants on variants.id = due.variant_id
    union
    select product_categories.product_id from due
    join catalog.categories on categories.path @> array[due.category_id]
    join catalog.product_categories on product_categories.category_id = categories.id
    limit $limit`
})
export const listVariantIdsOfProducts = statement({
  name: 'catalog.list_variant_ids',
  takes: { productIds: 'uuid[]', limit: 'int8' },
  gives: { id: 'uuid' },
  text: 'select id from catalog.variants where product_id = any ($productIds) limit $limit'
})
/** Lists the versions of these products. Those that were deleted are left out. */
export const listProductVersions = statement({
  name: 'catalog.list_product_versions',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid', version: 'int4' },
  text: 'select id, version from catalog.products where id = any ($ids)'
})
/** Locks the only row of the revision, so run it last. `changeId`: a new random id. */
export const incrementCatalogRevision = statement({
  name: 'catalog.raise_revision',
  takes: { changeId: 'uuid' },
  text: 'update catalog.revision set value = value + 1, change_id = $changeId'
})
/** Raises the revision, and records that starts and ends of discounts before this transaction are applied. */
export const updateDiscountsAppliedAt = statement({
  name: 'catalog.mark_priced',
  takes: { changeId: 'uuid' },
  text: 'update catalog.revision set value = value + 1, change_id = $changeId, priced_at = now()'
})
/** Raises the revision, and records the currency for which the lowest prices are computed. */
export const recordLowestPriceCurrency = statement({
  name: 'catalog.mark_currency',
  takes: { changeId: 'uuid', currency: 'text' },
  text: 'update catalog.revision set value = value + 1, change_id = $changeId, currency = $currency'
})
/**
 * `change_id`: the random id of the last change, because a failover that loses changes lets `value` repeat. `changes_in`: seconds
 * until the next start or end of a discount. `is_due`: one has passed that is not applied yet. `currency`: the currency for which
 * the lowest prices were computed last.
 */
export const findCatalogRevision = statement({
  name: 'catalog.find_revision',
  gives: {
    shop_id: 'uuid',
    value: 'int8',
    change_id: 'uuid',
    currency: 'text?',
    changes_in: 'float8?',
    is_due: 'bool'
  },
  text: `
    select
      revision.shop_id,
      revision.value,
      revision.change_id,
      revision.currency,
      extract(epoch from least(
        (select min(starts_at) from catalog.discounts where active and starts_at > statement_timestamp()),
        (select min(ends_at) from catalog.discounts where active and ends_at > statement_timestamp())
      ) - statement_timestamp())::float8 as changes_in,
      exists (
        select from catalog.discounts
        where active and starts_at > revision.priced_at and starts_at <= statement_timestamp()
      ) or exists (
        select from catalog.discounts
        where active and ends_at > revision.priced_at and ends_at <= statement_timestamp()
      ) as is_due
    from catalog.revision`
})
export type CatalogRevisionRow = RowOf<typeof findCatalogRevision>
