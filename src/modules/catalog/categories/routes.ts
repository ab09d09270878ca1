import type { Tiers } from '../../../gateway/tiers.ts'
import { writeOf } from '../../../gateway/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams } from '../schema.ts'
import { Category, CategoryBody, PatchCategory } from './schema.ts'
import type { CategoryService } from './service.ts'

const tags = ['catalog']

export function categoryRoutes(tiers: Tiers, categories: CategoryService): void {
  tiers.admin.post(
    '/catalog/categories',
    { schema: { tags, summary: 'Create a category', body: CategoryBody, response: { 201: Category } } },
    async (request, reply) => reply.code(201).send(await categories.create(request.body, writeOf(request)))
  )

  tiers.admin.patch(
    '/catalog/categories/:id',
    {
      schema: {
        tags,
        summary: 'Change or move a category',
        params: IdParams,
        body: PatchCategory,
        response: { 200: Category }
      }
    },
    request => categories.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/categories/:id',
    {
      schema: {
        tags,
        summary: 'Delete a category; its products stay',
        params: IdParams,
        response: { 204: Type.Null() }
      }
    },
    async (request, reply) => {
      await categories.remove(request.params.id, writeOf(request))
      return reply.code(204).send(null)
    }
  )
}
