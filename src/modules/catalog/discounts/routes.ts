import type { FastifyReply } from 'fastify'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams, listOf, PageQuery } from '../../../kernel/wire.ts'
import { CreateDiscountRequest, DiscountResponse, UpdateDiscountRequest } from './schema.ts'
import type { DiscountService } from './service.ts'

const tags = ['catalog']
const config = { class: 'account' } as const

export function discountRoutes(tiers: Tiers, discounts: DiscountService): void {
  tiers.admin.get(
    '/catalog/discounts',
    {
      config,
      schema: {
        tags,
        summary: 'All discounts, the newest first',
        querystring: PageQuery,
        response: { 200: listOf(DiscountResponse) }
      }
    },
    request => discounts.list(request.query)
  )

  tiers.admin.post(
    '/catalog/discounts',
    {
      config,
      schema: {
        tags,
        summary: 'Create a discount',
        body: CreateDiscountRequest,
        response: { 201: DiscountResponse }
      }
    },
    async (request, reply) => send(reply.code(201), await discounts.create(request.body, writeOf(request)))
  )

  tiers.admin.patch(
    '/catalog/discounts/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Change when a discount runs',
        params: IdParams,
        body: UpdateDiscountRequest,
        response: { 200: DiscountResponse }
      }
    },
    async (request, reply) =>
      send(reply, await discounts.patch(request.params.id, request.body, writeOf(request)))
  )

  tiers.admin.delete(
    '/catalog/discounts/:id',
    {
      config,
      schema: { tags, summary: 'Delete a discount', params: IdParams, response: { 204: Type.Null() } }
    },
    async (request, reply) => {
      await discounts.remove(request.params.id, writeOf(request))
      return reply.code(204).send(null)
    }
  )
}

const send = (reply: FastifyReply, discount: DiscountResponse) =>
  reply.header('etag', `"${discount.version}"`).send(discount)
