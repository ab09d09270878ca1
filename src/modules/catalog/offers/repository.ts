import { nullableJson, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { Discount } from '../discounts/pricing.ts'

/** The variants of these that are sold in a currency, in any order. */
export const listOffers = statement({
  name: 'catalog.list_offers',
  takes: { ids: 'uuid[]', currency: 'text' },
  gives: {
    id: 'uuid',
    product_id: 'uuid',
    name: 'text',
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
      variants.id, variants.product_id, products.name, products.slug, variants.sku, variants.price_minor, variants.sale_price_minor,
      coalesce(variants.image_url, products.images -> 0 ->> 'url') as image_url, variants.attributes,
      quantity_min, quantity_max, quantity_step, weight_grams, requires_shipping,
      (select jsonb_agg(to_jsonb(discounts))
       from catalog.variant_discounts discounts where discounts.variant_id = variants.id) as discounts
    from catalog.variants
    join catalog.products on products.id = variants.product_id
    where variants.id = any ($ids) and variants.active and variants.currency = $currency
      and products.status = 'active'`
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
export type OfferRow = RowOf<typeof listOffers>
