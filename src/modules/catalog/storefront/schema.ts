import { publicMetadataResponseFields } from '../../../kernel/metadata.ts'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { showsFieldsOf } from '../../../kernel/resource-schemas.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  amount,
  Currency,
  Id,
  input,
  line,
  MarketQuery,
  nullable,
  pageQuery,
  response,
  Time
} from '../../../kernel/wire.ts'
import { CategoryNodeResponse, CategoryResponse, categoryResource } from '../categories/schema.ts'
import {
  CategoryLinkResponse,
  ImageResponse,
  productResource,
  StoredVariantAttributesSchema
} from '../products/fields.ts'
import { variantQuantityLimitFields, variantResource } from '../variants/schema.ts'

const PRICES = 'Price of the cheapest variant, in minor units. Null: no variant is for sale.'
const Bound = (description: string) =>
  Type.Optional(Type.Integer({ description, minimum: 0, maximum: AMOUNT_MAX }))

export const ProductListQuery = input({
  ...pageQuery,
  ...MarketQuery.properties,
  q: Type.Optional(
    line(
      100,
      'Part of a name, brand or SKU. A text of fewer than three letters or digits in a row must begin a word. Case and accents are ignored.'
    )
  ),
  category: Type.Optional(line(255, 'Id or slug of a category. Categories below it are included.')),
  tag: Type.Optional(line(255)),
  min_price: Bound('Minimum discounted price of the cheapest variant, in minor units.'),
  max_price: Bound('Maximum discounted price of the cheapest variant, in minor units.'),
  in_stock: Type.Optional(Type.Boolean({ description: 'Whether at least one variant is in stock.' })),
  sort: Type.Optional(
    Type.Enum(['newest', 'name', 'price', '-price'], {
      description:
        '`price` sorts by the discounted price of the cheapest variant, lowest first; `-price` highest first. Both omit products without a price.',
      default: 'newest'
    })
  )
})
export type ProductListQuery = Static<typeof ProductListQuery>
export type ProductSort = NonNullable<ProductListQuery['sort']>

export const ProductSummaryResponse = showsFieldsOf(
  productResource,
  'public',
  response('ProductSummaryResponse', {
    id: Id,
    slug: Type.String(),
    name: Type.String(),
    brand: nullable(Type.String()),
    image_url: nullable(Type.String()),
    price: nullable(Type.Integer({ description: PRICES })),
    discounted_price: nullable(Type.Integer({ description: PRICES })),
    currency: Currency,
    variant_count: Type.Integer({ description: 'Number of variants that are for sale.' }),
    in_stock: Type.Boolean({ description: 'Whether at least one variant is in stock.' }),
    tags: Type.Array(Type.String()),
    created_at: Time
  }),
  'created_at'
)
export type ProductSummaryResponse = Static<typeof ProductSummaryResponse>

export const VariantResponse = showsFieldsOf(
  variantResource,
  'public',
  response('VariantResponse', {
    id: Id,
    sku: Type.String(),
    name: Type.String(),
    price: amount('Unit price'),
    discounted_price: amount('Unit price after discounts'),
    currency: Currency,
    attributes: StoredVariantAttributesSchema,
    image_url: nullable(Type.String()),
    weight_grams: nullable(Type.Integer()),
    barcode: nullable(Type.String()),
    ...variantQuantityLimitFields,
    ...publicMetadataResponseFields
  }),
  'weight_grams'
)
export type VariantResponse = Static<typeof VariantResponse>

export const ProductResponse = showsFieldsOf(
  productResource,
  'public',
  response('ProductResponse', {
    id: Id,
    slug: Type.String(),
    name: Type.String(),
    description: Type.String(),
    brand: nullable(Type.String()),
    currency: Currency,
    tags: Type.Array(Type.String()),
    options: Type.Array(Type.Object({ name: Type.String(), values: Type.Array(Type.String()) })),
    images: Type.Array(ImageResponse),
    categories: Type.Array(CategoryLinkResponse),
    variants: Type.Array(VariantResponse),
    ...publicMetadataResponseFields,
    created_at: Time,
    updated_at: Time
  }),
  'metadata'
)
export type ProductResponse = Static<typeof ProductResponse>

export const CategoryTreeResponse = response('CategoryTreeResponse', {
  items: Type.Array(CategoryNodeResponse)
})
export const CategoryDetailResponse = showsFieldsOf(
  categoryResource,
  'public',
  response('CategoryDetailResponse', {
    ...CategoryResponse.properties,
    ancestors: Type.Array(CategoryLinkResponse, { description: 'Categories above it, from the root down.' }),
    children: Type.Array(CategoryResponse)
  })
)
export type CategoryDetailResponse = Static<typeof CategoryDetailResponse>
