import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import { CategoryResponse, CreateCategoryRequest, UpdateCategoryRequest } from './schema.ts'
import type { CategoryService } from './service.ts'

const config = { class: 'account' } as const

export function categoryRoutes(tiers: Tiers, categories: CategoryService): void {
  tiers.admin.post(
    '/catalog/categories',
    {
      config,
      schema: {
        summary: 'Create a category',
        body: CreateCategoryRequest,
        response: { 201: CategoryResponse }
      }
    },
    request => categories.create(request.body, writeOf(request))
  )

  tiers.admin.patch(
    '/catalog/categories/:id',
    {
      config,
      schema: {
        summary: 'Change or move a category',
        params: IdParams,
        body: UpdateCategoryRequest,
        response: { 200: CategoryResponse }
      }
    },
    request => categories.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/categories/:id',
    {
      config,
      schema: { summary: 'Delete a category; its products stay', params: IdParams, response: noContent }
    },
    request => categories.remove(request.params.id, writeOf(request))
  )
}
