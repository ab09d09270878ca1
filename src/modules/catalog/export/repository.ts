import { json, nullableJson, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { ProductImage, ProductOption, ProductStatus } from '../products/repository.ts'

/** A variant as it is exported. */
export type ExportedVariant = {
  id: string
  sku: string
  price_minor: number
  sale_price_minor: number | null
  attributes: Record<string, string>
  image_url: string | null
  weight_grams: number | null
  barcode: string | null
  requires_shipping: boolean
}

/**
 * Lists the next products after the id `after`, with the variants that are active in this currency. The
 * category is the one that an import created from the product type, or else the first one.
 */
export const listProductsForExport = statement({
  name: 'catalog.list_exported_products',
  takes: { after: 'uuid', currency: 'text', products: 'int8' },
  gives: {
    id: 'uuid',
    slug: 'text',
    name: 'text',
    description: 'text',
    brand: 'text?',
    status: oneOf<ProductStatus>(),
    tags: 'text[]',
    options: json<ProductOption[]>(),
    images: json<ProductImage[]>(),
    category: nullableJson<{ slug: string; name: string }>(),
    variants: nullableJson<ExportedVariant[]>()
  },
  slow: true,
  text: `
    select
      id, slug, name, description, brand, status, tags, options, images,
      (select jsonb_build_object('slug', categories.slug, 'name', categories.name)
       from catalog.product_categories join catalog.categories on categories.id = product_categories.category_id
       where product_categories.product_id = products.id
       order by product_categories.imported desc, categories.slug limit 1) as category,
      (select jsonb_agg(to_jsonb(sold) - 'position' order by sold.position, sold.id) from (
         select
           id, sku, price_minor, sale_price_minor, attributes, image_url, weight_grams, barcode, requires_shipping,
           position
         from catalog.variants
         where variants.product_id = products.id and variants.active and variants.currency = $currency
       ) sold) as variants
    from catalog.products
    where id > $after order by id limit $products`
})
export type ExportedProduct = RowOf<typeof listProductsForExport>
