import { currencies } from '../../../kernel/money.ts'
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
  Version
} from '../../../kernel/wire.ts'
import { Attributes, HttpUrl, StoredAttributes } from '../products/fields.ts'

export const VARIANTS_MAX = 250
export const SKU_LENGTH_MAX = 255
export const BARCODE_LENGTH_MAX = 255
export const WEIGHT_MAX = 100_000_000

const fields = {
  sku: line(SKU_LENGTH_MAX),
  name: Type.Optional(line(255, 'By default its attributes, else the name of the product.')),
  price: Amount,
  sale_price: Type.Optional(nullable(Amount)),
  currency: Type.Optional(
    Type.Enum(Object.keys(currencies), {
      description: 'ISO 4217. By default that of the shop; nothing is sold in any other.'
    })
  ),
  attributes: Type.Optional(Attributes),
  image_url: Type.Optional(nullable(HttpUrl)),
  weight_grams: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: WEIGHT_MAX }))),
  barcode: Type.Optional(nullable(line(BARCODE_LENGTH_MAX))),
  active: Type.Optional(Type.Boolean({ default: true })),
  position: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 }))
}

export const CreateVariantRequest = request('CreateVariantRequest', fields)
export type CreateVariantRequest = Static<typeof CreateVariantRequest>

export const UpdateVariantRequest = patchRequest('UpdateVariantRequest', fields)
export type UpdateVariantRequest = Static<typeof UpdateVariantRequest>

const variant = {
  id: Id,
  product_id: Id,
  sku: Type.String(),
  name: Type.String(),
  price: amount('Price of one'),
  sale_price: nullable(amount('Price of one while it is on sale')),
  currency: Currency,
  attributes: StoredAttributes,
  image_url: nullable(Type.String()),
  weight_grams: nullable(Type.Integer()),
  barcode: nullable(Type.String()),
  active: Type.Boolean(),
  position: Type.Integer()
}
export const AdminVariantResponse = response('AdminVariantResponse', variant)
export type AdminVariantResponse = Static<typeof AdminVariantResponse>

/** A variant by itself. Its version is that of its product. */
export const VersionedVariantResponse = response('VersionedVariantResponse', { ...variant, version: Version })
export type VersionedVariantResponse = Static<typeof VersionedVariantResponse>
