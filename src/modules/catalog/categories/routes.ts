import type { FastifyReply } from 'fastify'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { CategoryResponse, CreateCategoryRequest, UpdateCategoryRequest } from './schema.ts'
import type { CategoryService } from './service.ts'

const tags = ['catalog']
const config = { class: 'account' } as const

export function categoryRoutes(tiers: Tiers, categories: CategoryService): void {
  tiers.admin.post(
    '/catalog/categories',
    {
      config,
      schema: {
        tags,
        summary: 'Create a category',
        body: CreateCategoryRequest,
        response: { 201: CategoryResponse }
      }
    },
    async (request, reply) => send(reply.code(201), await categories.create(request.body, writeOf(request)))
  )

  tiers.admin.patch(
    '/catalog/categories/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Change or move a category',
        params: IdParams,
        body: UpdateCategoryRequest,
        response: { 200: CategoryResponse }
      }
    },
    async (request, reply) =>
      send(reply, await categories.patch(request.params.id, request.body, writeOf(request)))
  )

  tiers.admin.delete(
    '/catalog/categories/:id',
    {
      config,
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

const send = (reply: FastifyReply, category: CategoryResponse) =>
  reply.header('etag', `"${category.version}"`).send(category)
