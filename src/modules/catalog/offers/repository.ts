import { json, nullableJson, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { CatalogVariantDiscount } from '../discounts/pricing.ts'

const offered = {
  id: 'uuid',
  product_id: 'uuid',
  name: 'text',
  variant_name: 'text',
  slug: 'text',
  sku: 'text',
  price_minor: 'int8',
  sale_price_minor: 'int8?',
  image_url: 'text?',
  attributes: json<Record<string, string>>(),
  quantity_min: 'int4',
  quantity_max: 'int4?',
  quantity_step: 'int4',
  weight_grams: 'int4?',
  requires_shipping: 'bool',
  discounts: nullableJson<CatalogVariantDiscount[]>()
} as const
const offeredSql = `
      variants.id, variants.product_id, products.name, variants.name as variant_name, products.slug, variants.sku,
      variants.price_minor, variants.sale_price_minor,
      coalesce(variants.image_url, products.images -> 0 ->> 'url') as image_url, variants.attributes,
      quantity_min, quantity_max, quantity_step, weight_grams, requires_shipping,
      (select jsonb_agg(to_jsonb(discounts))
       from catalog.variant_discounts discounts where discounts.variant_id = variants.id) as discounts`

/** Lists those of these variants that are for sale in a currency, in any order. */
export const listVariantOffers = statement({
  name: 'catalog.list_offers',
  takes: { ids: 'uuid[]', currency: 'text' },
  gives: offered,
  text: `
    select ${offeredSql}
    from catalog.variants
    join catalog.products on products.id = variants.product_id
    where variants.id = any ($ids) and variants.active and variants.currency = $currency
      and products.status = 'active'`
})
/** Lists these variants with the inputs of their prices, in any order, also those that are not for sale. */
export const listVariantsForQuote = statement({
  name: 'catalog.quote_variants',
  takes: { ids: 'uuid[]' },
  gives: {
    ...offered,
    category_ids: 'uuid[]',
    currency: 'text',
    tax_category: 'text?',
    is_active: 'bool'
  },
  text: `
    select ${offeredSql},
      array(
        select distinct unnest(categories.path)
        from catalog.product_categories
        join catalog.categories on categories.id = product_categories.category_id
        where product_categories.product_id = variants.product_id
        order by 1
      ) as category_ids,
      variants.currency, tax_category, variants.active and products.status = 'active' as is_active
    from catalog.variants
    join catalog.products on products.id = variants.product_id
    where variants.id = any ($ids)`
})
/** Lists the names of these variants, also of deleted ones. */
export const listVariantNames = statement({
  name: 'catalog.list_variant_names',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid', name: 'text' },
  text: `
    select variants.id, products.name
    from catalog.variants join catalog.products on products.id = variants.product_id
    where variants.id = any ($ids)
    union all
    select id, name from catalog.gone_variants where id = any ($ids)`
})
export type QuotedVariantRow = RowOf<typeof listVariantsForQuote>
export type VariantOfferRow = RowOf<typeof listVariantOffers>

/** The name of a variant within its product. Empty when it equals the name of the product. */
export const variantNameWithinProduct = (row: { name: string; variant_name: string }): string =>
  row.variant_name === row.name ? '' : row.variant_name
