import { changeListQueryFields } from '../../../kernel/change-lists.ts'
import {
  adminMetadataRequestFields,
  adminMetadataResponseFieldSchemas,
  metadataFilterQuery
} from '../../../kernel/metadata.ts'
import { acceptsFieldsOf, showsFieldsOf } from '../../../kernel/resource-schemas.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Id,
  input,
  line,
  nullable,
  pageQuery,
  patchRequest,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'
import { AdminVariantResponse, CreateVariantRequest, VARIANTS_PER_PRODUCT_MAX } from '../variants/schema.ts'
import {
  CategoryLinkResponse,
  HttpUrlSchema,
  IMAGE_ALT_LENGTH_MAX,
  ImageResponse,
  PRODUCT_STATUSES,
  ProductStatusSchema,
  productResource,
  SlugSchema
} from './fields.ts'

export const IMAGES_PER_PRODUCT_MAX = 250
const OPTIONS_MAX = 3
export const TAGS_PER_PRODUCT_MAX = 250
export const PRODUCT_NAME_LENGTH_MAX = 255
export const TAG_LENGTH_MAX = 255
export const OPTION_NAME_LENGTH_MAX = 100
export const OPTION_VALUE_LENGTH_MAX = 255
export const PRODUCT_DESCRIPTION_LENGTH_MAX = 200_000

const Option = input({
  name: line(OPTION_NAME_LENGTH_MAX),
  values: Type.Array(line(OPTION_VALUE_LENGTH_MAX), { maxItems: VARIANTS_PER_PRODUCT_MAX, uniqueItems: true })
})
const fields = {
  name: line(PRODUCT_NAME_LENGTH_MAX),
  slug: Type.Optional(SlugSchema),
  description: Type.Optional(
    Type.String({
      maxLength: PRODUCT_DESCRIPTION_LENGTH_MAX,
      description: 'Text or HTML. It is stored unchanged.'
    })
  ),
  brand: Type.Optional(nullable(line(PRODUCT_NAME_LENGTH_MAX))),
  status: Type.Optional(
    Type.Enum([...PRODUCT_STATUSES], {
      description:
        'Only active products are public and for sale. A new product is active if it has variants, else a draft.'
    })
  ),
  tags: Type.Optional(
    Type.Array(line(TAG_LENGTH_MAX), { maxItems: TAGS_PER_PRODUCT_MAX, uniqueItems: true })
  ),
  options: Type.Optional(Type.Array(Option, { maxItems: OPTIONS_MAX })),
  images: Type.Optional(
    Type.Array(
      input({
        url: HttpUrlSchema,
        alt: Type.Optional(nullable(Type.String({ maxLength: IMAGE_ALT_LENGTH_MAX })))
      }),
      {
        description: 'In display order.',
        maxItems: IMAGES_PER_PRODUCT_MAX
      }
    )
  ),
  category_ids: Type.Optional(Type.Array(Id, { maxItems: 50, uniqueItems: true })),
  ...adminMetadataRequestFields
}

export const CreateProductRequest = acceptsFieldsOf(
  productResource,
  'create',
  request('CreateProductRequest', {
    ...fields,
    variants: Type.Optional(Type.Array(CreateVariantRequest, { maxItems: VARIANTS_PER_PRODUCT_MAX }))
  })
)
export type CreateProductRequest = Static<typeof CreateProductRequest>

export const UpdateProductRequest = acceptsFieldsOf(
  productResource,
  'update',
  patchRequest('UpdateProductRequest', fields)
)
export type UpdateProductRequest = Static<typeof UpdateProductRequest>

export const AdminProductResponse = showsFieldsOf(
  productResource,
  'admin',
  response('AdminProductResponse', {
    id: Id,
    slug: Type.String(),
    name: Type.String(),
    description: Type.String(),
    brand: nullable(Type.String()),
    status: ProductStatusSchema,
    tags: Type.Array(Type.String()),
    options: Type.Array(Type.Object({ name: Type.String(), values: Type.Array(Type.String()) })),
    images: Type.Array(ImageResponse),
    categories: Type.Array(CategoryLinkResponse),
    variants: Type.Array(AdminVariantResponse),
    ...adminMetadataResponseFieldSchemas,
    version: Version,
    created_at: Time,
    updated_at: Time
  })
)
export type AdminProductResponse = Static<typeof AdminProductResponse>

export const AdminProductSummaryResponse = showsFieldsOf(
  productResource,
  'admin',
  response('AdminProductSummaryResponse', {
    id: Id,
    slug: Type.String(),
    name: Type.String(),
    brand: nullable(Type.String()),
    status: ProductStatusSchema,
    image_url: nullable(Type.String()),
    variant_count: Type.Integer(),
    version: Version,
    created_at: Time,
    updated_at: Time
  })
)

export type AdminProductSummaryResponse = Static<typeof AdminProductSummaryResponse>

export const AdminProductListQuery = input({
  ...pageQuery,
  ...changeListQueryFields,
  status: Type.Optional(ProductStatusSchema),
  ...metadataFilterQuery,
  q: Type.Optional(
    line(
      100,
      'Part of a name, brand or SKU. A text of fewer than three letters or digits in a row must begin a word.'
    )
  )
})
export type AdminProductListQuery = Static<typeof AdminProductListQuery>
