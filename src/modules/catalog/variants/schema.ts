import { adminMetadataRequestFields, adminMetadataResponseFieldSchemas } from '../../../kernel/metadata.ts'
import { currencyDecimalPlaces } from '../../../kernel/money.ts'
import { acceptsFieldsOf, showsFieldsOf } from '../../../kernel/resource-schemas.ts'
import { defineResource } from '../../../kernel/resources.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Amount,
  amount,
  Currency,
  Id,
  line,
  nullable,
  patchRequest,
  request,
  response,
  TaxCategory,
  Version
} from '../../../kernel/wire.ts'
import { HttpUrlSchema, StoredVariantAttributesSchema, VariantAttributesSchema } from '../products/fields.ts'

/** Variants. Modules can add fields to their public and administrative reads, and to their create and update. */
export const variantResource = defineResource('catalog.variant', { audiences: ['public', 'admin'] })

export const VARIANTS_PER_PRODUCT_MAX = 250
export const SKU_LENGTH_MAX = 255
export const BARCODE_LENGTH_MAX = 255
export const WEIGHT_GRAMS_MAX = 100_000_000
const QUANTITY_MAX = 1_000_000

const Quantity = (description: string) => Type.Integer({ description, minimum: 1, maximum: QUANTITY_MAX })

const fields = {
  sku: line(SKU_LENGTH_MAX),
  name: Type.Optional(line(255, 'Defaults to the attribute values, or to the name of the product.')),
  price: Amount,
  sale_price: Type.Optional(nullable(Amount)),
  currency: Type.Optional(
    Type.Enum(Object.keys(currencyDecimalPlaces), {
      description:
        'ISO 4217. Defaults to the currency of the shop. Variants in other currencies are not sold.'
    })
  ),
  attributes: Type.Optional(VariantAttributesSchema),
  image_url: Type.Optional(nullable(HttpUrlSchema)),
  weight_grams: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: WEIGHT_GRAMS_MAX }))),
  barcode: Type.Optional(nullable(line(BARCODE_LENGTH_MAX))),
  active: Type.Optional(Type.Boolean({ default: true })),
  position: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  quantity_min: Type.Optional(Quantity('Minimum quantity per cart line. Defaults to `quantity_step`.')),
  quantity_max: Type.Optional(nullable(Quantity('Maximum quantity per cart line.'))),
  quantity_step: Type.Optional(
    Quantity('Quantities must be multiples of this, minimum and maximum included. Defaults to 1.')
  ),
  requires_shipping: Type.Optional(Type.Boolean({ default: true })),
  tax_category: Type.Optional(nullable(TaxCategory)),
  ...adminMetadataRequestFields
}

export const CreateVariantRequest = acceptsFieldsOf(
  variantResource,
  'create',
  request('CreateVariantRequest', fields)
)
export type CreateVariantRequest = Static<typeof CreateVariantRequest>

export const UpdateVariantRequest = acceptsFieldsOf(
  variantResource,
  'update',
  patchRequest('UpdateVariantRequest', fields)
)
export type UpdateVariantRequest = Static<typeof UpdateVariantRequest>

export const variantQuantityLimitFields = {
  quantity_min: Type.Integer({ description: 'Minimum quantity per cart line.' }),
  quantity_max: nullable(Type.Integer({ description: 'Maximum quantity per cart line.' })),
  quantity_step: Type.Integer({ description: 'Quantities must be multiples of this.' })
}
const variant = {
  id: Id,
  product_id: Id,
  sku: Type.String(),
  name: Type.String(),
  price: amount('Unit price'),
  sale_price: nullable(amount('Unit price while the variant is on sale')),
  currency: Currency,
  attributes: StoredVariantAttributesSchema,
  image_url: nullable(Type.String()),
  weight_grams: nullable(Type.Integer()),
  barcode: nullable(Type.String()),
  active: Type.Boolean(),
  position: Type.Integer(),
  ...variantQuantityLimitFields,
  requires_shipping: Type.Boolean(),
  tax_category: nullable(Type.String()),
  ...adminMetadataResponseFieldSchemas
}
export const AdminVariantResponse = showsFieldsOf(
  variantResource,
  'admin',
  response('AdminVariantResponse', variant)
)
export type AdminVariantResponse = Static<typeof AdminVariantResponse>

/** A variant without its product. Its version is the version of the product. */
export const VersionedVariantResponse = showsFieldsOf(
  variantResource,
  'admin',
  response('VersionedVariantResponse', { ...variant, version: Version })
)
export type VersionedVariantResponse = Static<typeof VersionedVariantResponse>
