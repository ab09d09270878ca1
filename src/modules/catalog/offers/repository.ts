import { json, nullableJson, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { Discount } from '../discounts/pricing.ts'

/** The variants of these that are sold in a currency, in any order. */
export const listOffers = statement({
  name: 'catalog.list_offers',
  takes: { ids: 'uuid[]', currency: 'text' },
  gives: {
    id: 'uuid',
    product_id: 'uuid',
    name: 'text',
    variant_name: 'text',
    slug: 'text',
    sku: 'text',
    price_minor: 'int8',
    sale_price_minor: 'int8?',
    image_url: 'text?',
    attributes: 'jsonb',
    quantity_min: 'int4',
    quantity_max: 'int4?',
    quantity_step: 'int4',
    weight_grams: 'int4?',
    requires_shipping: 'bool',
    discounts: nullableJson<Discount[]>()
  },
  text: `
    select
      variants.id, variants.product_id, products.name, variants.name as variant_name, products.slug, variants.sku,
      variants.price_minor, variants.sale_price_minor,
      coalesce(variants.image_url, products.images -> 0 ->> 'url') as image_url, variants.attributes,
      quantity_min, quantity_max, quantity_step, weight_grams, requires_shipping,
      (select jsonb_agg(to_jsonb(discounts))
       from catalog.variant_discounts discounts where discounts.variant_id = variants.id) as discounts
    from catalog.variants
    join catalog.products on products.id = variants.product_id
    where variants.id = any ($ids) and variants.active and variants.currency = $currency
      and products.status = 'active'`
})
/** All that a price depends on of these variants, in any order; those that are not sold, too. */
export const quoteVariants = statement({
  name: 'catalog.quote_variants',
  takes: { ids: 'uuid[]' },
  gives: {
    id: 'uuid',
    product_id: 'uuid',
    category_ids: 'uuid[]',
    name: 'text',
    variant_name: 'text',
    slug: 'text',
    sku: 'text',
    price_minor: 'int8',
    sale_price_minor: 'int8?',
    currency: 'text',
    image_url: 'text?',
    attributes: json<Record<string, string>>(),
    quantity_min: 'int4',
    quantity_max: 'int4?',
    quantity_step: 'int4',
    weight_grams: 'int4?',
    requires_shipping: 'bool',
    tax_category: 'text?',
    is_active: 'bool',
    discounts: nullableJson<Discount[]>()
  },
  text: `
    select
      variants.id, variants.product_id,
      array(
        select distinct unnest(categories.path)
        from catalog.product_categories
        join catalog.categories on categories.id = product_categories.category_id
        where product_categories.product_id = variants.product_id
        order by 1
      ) as category_ids,
      products.name, variants.name as variant_name, products.slug, variants.sku, variants.price_minor,
      variants.sale_price_minor, variants.currency,
      coalesce(variants.image_url, products.images -> 0 ->> 'url') as image_url, variants.attributes,
      quantity_min, quantity_max, quantity_step, weight_grams, requires_shipping, tax_category,
      variants.active and products.status = 'active' as is_active,
      (select jsonb_agg(to_jsonb(discounts))
       from catalog.variant_discounts discounts where discounts.variant_id = variants.id) as discounts
    from catalog.variants
    join catalog.products on products.id = variants.product_id
    where variants.id = any ($ids)`
})
/** What these variants are called, or were before they were deleted. */
export const listNames = statement({
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
export type QuoteRow = RowOf<typeof quoteVariants>
export type OfferRow = RowOf<typeof listOffers>
