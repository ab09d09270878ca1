import type { Queryable } from '../../../platform/postgres.ts'
import { type RowOf, statement } from '../../../platform/statement.ts'

const listOffers = statement(
  'catalog.list_offers',
  {
    id: 'uuid',
    product_id: 'uuid',
    name: 'text',
    sku: 'text',
    price_minor: 'int8',
    sale_price_minor: 'int8?',
    image_url: 'text?',
    attributes: 'jsonb',
    discounts: 'jsonb?'
  },
  `select
     variants.id, variants.product_id, products.name, variants.sku, variants.price_minor, variants.sale_price_minor,
     coalesce(variants.image_url, products.images -> 0 ->> 'url') as image_url, variants.attributes,
     (select jsonb_agg(to_jsonb(discounts))
      from catalog.variant_discounts discounts where discounts.variant_id = variants.id) as discounts
   from catalog.variants
   join catalog.products on products.id = variants.product_id
   where variants.id = any ($1) and variants.active and variants.currency = $2 and products.status = 'active'`
)
export type OfferRow = RowOf<typeof listOffers>

/** The variants of these that are sold in `currency`, in any order. */
export const list = (db: Queryable, ids: readonly string[], currency: string): Promise<OfferRow[]> =>
  db.query(listOffers, [ids, currency])
