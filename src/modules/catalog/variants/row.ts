import type { VariantRow, VariantRowWithVersion } from './repository.ts'
import type { CreateVariantRequest, UpdateVariantRequest } from './schema.ts'

type NewVariant = {
  id: string
  product: { id: string; name: string }
  position: number
  currency: string
}

/** Returns the row of a new variant, with defaults for omitted fields. */
export function newVariantRow(
  body: CreateVariantRequest,
  { id, product, position, currency }: NewVariant
): VariantRow {
  const attributes = body.attributes ?? {}
  return {
    id,
    product_id: product.id,
    sku: body.sku,
    name: body.name ?? defaultVariantName(Object.values(attributes), product.name),
    price_minor: body.price,
    sale_price_minor: body.sale_price ?? null,
    currency: body.currency ?? currency,
    attributes,
    image_url: body.image_url ?? null,
    weight_grams: body.weight_grams ?? null,
    barcode: body.barcode ?? null,
    active: body.active ?? true,
    position: body.position ?? position,
    // A variant that is sold in multiples of six has a minimum of six, unless the request sets another.
    quantity_min: body.quantity_min ?? body.quantity_step ?? 1,
    quantity_max: body.quantity_max ?? null,
    quantity_step: body.quantity_step ?? 1,
    requires_shipping: body.requires_shipping ?? true,
    tax_category: body.tax_category ?? null
  }
}

/** Returns the option values, such as `Red / Small`, or the name of the product without options. */
export const defaultVariantName = (values: readonly string[], productName: string): string =>
  values.length === 0 ? productName : values.join(' / ').slice(0, 255).toWellFormed()

/** Returns the variant with the changes of `body`. */
export function variantRowAfterUpdate(
  present: VariantRowWithVersion,
  body: UpdateVariantRequest
): VariantRow {
  const { version: _, metadata: __, private_metadata: ___, ...row } = present
  const { price = row.price_minor, sale_price = row.sale_price_minor, ...changed } = body
  const { metadata: _metadata, private_metadata: _private, ...fields } = changed
  return { ...row, ...fields, price_minor: price, sale_price_minor: sale_price }
}
