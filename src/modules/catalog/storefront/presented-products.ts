import { productResource } from '../products/fields.ts'
import { variantResource } from '../variants/schema.ts'
import type { PageFields } from './page-fields.ts'
import type { ActiveProductRow, ActiveVariantRow, ProductSummaryRow } from './repository.ts'
import type { ProductResponse, ProductSummaryResponse, VariantResponse } from './schema.ts'

/** Omits a lowest price in another currency, until the products are repriced in this one. */
export function presentSummary(
  row: ProductSummaryRow,
  currency: string,
  isCounted: boolean,
  fields: PageFields
): ProductSummaryResponse {
  const isPriced = row.lowest_price_currency === currency
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    brand: row.brand,
    image_url: row.image_url,
    price: isPriced ? row.lowest_full_price_minor : null,
    discounted_price: isPriced ? row.lowest_price_minor : null,
    currency,
    variant_count: isPriced ? (row.variant_count ?? 0) : 0,
    in_stock: !isCounted || row.in_stock,
    tags: row.tags,
    ...fields.placesOf(productResource, row.id),
    created_at: row.created_at
  }
}

/** `prices`: of the variants, in their order. A variant without a price is not for sale in this market. */
export function presentProduct(
  row: ActiveProductRow,
  currency: string,
  prices: readonly (Price | undefined)[],
  fields: PageFields
): ProductResponse {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    brand: row.brand,
    currency,
    tags: row.tags,
    options: row.options,
    images: row.images.map((image, index) => ({ ...image, position: index + 1 })),
    categories: row.categories ?? [],
    variants: (row.variants ?? []).flatMap((variant, index) => {
      const price = prices[index]
      return price === undefined ? [] : [presentVariant(variant, currency, price, fields)]
    }),
    ...fields.placesOf(productResource, row.id),
    metadata: row.metadata,
    created_at: row.created_at,
    updated_at: row.updated_at
  }
}

type Price = { price: number; discountedPrice: number }
const presentVariant = (
  variant: ActiveVariantRow,
  currency: string,
  { price, discountedPrice }: Price,
  fields: PageFields
): VariantResponse => ({
  id: variant.id,
  sku: variant.sku,
  name: variant.name,
  price,
  discounted_price: discountedPrice,
  currency,
  attributes: variant.attributes,
  image_url: variant.image_url,
  ...fields.placesOf(variantResource, variant.id),
  weight_grams: variant.weight_grams,
  barcode: variant.barcode,
  quantity_min: variant.quantity_min,
  quantity_max: variant.quantity_max,
  quantity_step: variant.quantity_step,
  metadata: variant.metadata
})
