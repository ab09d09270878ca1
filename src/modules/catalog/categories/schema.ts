import {
  adminMetadataRequestFields,
  adminMetadataResponseFieldSchemas,
  publicMetadataResponseFields
} from '../../../kernel/metadata.ts'
import { acceptsFieldsOf, showsFieldsOf } from '../../../kernel/resource-schemas.ts'
import { defineResource } from '../../../kernel/resources.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Id,
  line,
  nullable,
  patchRequest,
  recursiveResponse,
  request,
  response,
  Version
} from '../../../kernel/wire.ts'
import { SlugSchema } from '../products/fields.ts'

/** Categories. Modules can add fields to their public and administrative reads, and to their create and update. */
export const categoryResource = defineResource('catalog.category', { audiences: ['public', 'admin'] })

const fields = {
  name: line(255),
  slug: Type.Optional(SlugSchema),
  parent_id: Type.Optional(nullable(Id)),
  position: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
  ...adminMetadataRequestFields
}

export const CreateCategoryRequest = acceptsFieldsOf(
  categoryResource,
  'create',
  request('CreateCategoryRequest', fields)
)
export type CreateCategoryRequest = Static<typeof CreateCategoryRequest>

export const UpdateCategoryRequest = acceptsFieldsOf(
  categoryResource,
  'update',
  patchRequest('UpdateCategoryRequest', fields)
)
export type UpdateCategoryRequest = Static<typeof UpdateCategoryRequest>

export const CategoryResponse = showsFieldsOf(
  categoryResource,
  'public',
  response('CategoryResponse', {
    id: Id,
    parent_id: nullable(Id),
    slug: Type.String(),
    name: Type.String(),
    position: Type.Integer(),
    ...publicMetadataResponseFields,
    version: Version
  })
)
export type CategoryResponse = Static<typeof CategoryResponse>

export const AdminCategoryResponse = showsFieldsOf(
  categoryResource,
  'admin',
  response('AdminCategoryResponse', {
    ...CategoryResponse.properties,
    ...adminMetadataResponseFieldSchemas
  })
)
export type AdminCategoryResponse = Static<typeof AdminCategoryResponse>

export type CategoryNodeResponse = CategoryResponse & { children: CategoryNodeResponse[] }
export const CategoryNodeResponse = showsFieldsOf(
  categoryResource,
  'public',
  response('CategoryNodeResponse', {
    ...CategoryResponse.properties,
    children: Type.Array(recursiveResponse<CategoryNodeResponse>('CategoryNodeResponse'))
  })
)
