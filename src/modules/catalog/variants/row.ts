import type { VariantDetailRow, VariantRow } from './repository.ts'
import type { CreateVariantRequest, UpdateVariantRequest } from './schema.ts'

type NewVariant = {
  id: string
  product: { id: string; name: string }
  position: number
  currency: string
}

/** A new variant as it is written; what the caller left open gets its default. */
export function variantRow(
  body: CreateVariantRequest,
  { id, product, position, currency }: NewVariant
): VariantRow {
  const attributes = body.attributes ?? {}
  return {
    id,
    product_id: product.id,
    sku: body.sku,
    name: body.name ?? variantName(Object.values(attributes), product.name),
    price_minor: body.price,
    sale_price_minor: body.sale_price ?? null,
    currency: body.currency ?? currency,
    attributes,
    image_url: body.image_url ?? null,
    weight_grams: body.weight_grams ?? null,
    barcode: body.barcode ?? null,
    active: body.active ?? true,
    position: body.position ?? position,
    // In sixes means six at least, unless something else is said.
    quantity_min: body.quantity_min ?? body.quantity_step ?? 1,
    quantity_max: body.quantity_max ?? null,
    quantity_step: body.quantity_step ?? 1,
    requires_shipping: body.requires_shipping ?? true,
    tax_category: body.tax_category ?? null
  }
}

/** `Red / Small`, or what the product is called when there is nothing to tell apart. */
export const variantName = (values: readonly string[], productName: string): string =>
  values.length === 0 ? productName : values.join(' / ').slice(0, 255).toWellFormed()

/** The variant with what `body` changes. */
export function merge(present: VariantDetailRow, body: UpdateVariantRequest): VariantRow {
  const { version: _, ...row } = present
  const { price = row.price_minor, sale_price = row.sale_price_minor, ...fields } = body
  return { ...row, ...fields, price_minor: price, sale_price_minor: sale_price }
}
