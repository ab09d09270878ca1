import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import { AdminCategoryResponse, CreateCategoryRequest, UpdateCategoryRequest } from './schema.ts'
import type { CategoryService } from './service.ts'

const config = { class: 'account' } as const

export function categoryRoutes(tiers: Tiers, categories: CategoryService): void {
  tiers.admin.post(
    '/catalog/categories',
    {
      config,
      schema: {
        summary: 'Create a category',
        description:
          'Creates a category, at the root or below `parent_id`. The slug is made from the name unless it is sent. 400 `CATALOG_SLUG_NEEDED`: the name has no letter or digit; send a `slug`. 404 `CATALOG_CATEGORY_NOT_FOUND`: the parent does not exist. 409 `CATALOG_SLUG_TAKEN`: choose another slug. 409 `CATALOG_CATEGORY_TOO_DEEP`: categories can have 10 levels.',
        body: CreateCategoryRequest,
        response: { 201: AdminCategoryResponse }
      }
    },
    request => categories.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/catalog/categories/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a category with private metadata',
        description:
          'Returns a category with `private_metadata`. Public reads of categories have the other fields. 404 `CATALOG_CATEGORY_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: AdminCategoryResponse }
      }
    },
    request => categories.read(request.params.id)
  )

  tiers.admin.patch(
    '/catalog/categories/:id',
    {
      config,
      schema: {
        summary: 'Update a category',
        description:
          'Updates a category; omitted fields stay. Another `parent_id` moves it with all categories below it. 409 `CATALOG_CATEGORY_CYCLE`: a category cannot be below itself; choose another parent. 409 `CATALOG_SLUG_TAKEN`: choose another slug. 409 `CATALOG_CATEGORY_TOO_DEEP`: categories can have 10 levels. 412 `CATALOG_CATEGORY_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateCategoryRequest,
        response: { 200: AdminCategoryResponse }
      }
    },
    request => categories.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/categories/:id',
    {
      config,
      schema: {
        summary: 'Delete a category',
        description:
          'Deletes a category and its discounts. Its products stay. 404 `CATALOG_CATEGORY_NOT_FOUND`: it does not exist. 409 `CATALOG_CATEGORY_NOT_EMPTY`: move or delete the categories below it first. 412 `CATALOG_CATEGORY_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => categories.remove(request.params.id, writeOf(request))
  )
}
