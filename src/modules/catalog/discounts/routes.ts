import type { Tiers } from '../../../gateway/tiers.ts'
import { writeOf } from '../../../gateway/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams, listOf } from '../schema.ts'
import { Discount, DiscountBody, DiscountQuery, PatchDiscount } from './schema.ts'
import type { DiscountService } from './service.ts'

const tags = ['catalog']

export function discountRoutes(tiers: Tiers, discounts: DiscountService): void {
  tiers.admin.get(
    '/catalog/discounts',
    {
      schema: {
        tags,
        summary: 'All discounts, the newest first',
        querystring: DiscountQuery,
        response: { 200: listOf(Discount) }
      }
    },
    request => discounts.list(request.query)
  )

  tiers.admin.post(
    '/catalog/discounts',
    { schema: { tags, summary: 'Create a discount', body: DiscountBody, response: { 201: Discount } } },
    async (request, reply) => reply.code(201).send(await discounts.create(request.body, writeOf(request)))
  )

  tiers.admin.patch(
    '/catalog/discounts/:id',
    {
      schema: {
        tags,
        summary: 'Change when a discount runs',
        params: IdParams,
        body: PatchDiscount,
        response: { 200: Discount }
      }
    },
    request => discounts.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/discounts/:id',
    { schema: { tags, summary: 'Delete a discount', params: IdParams, response: { 204: Type.Null() } } },
    async (request, reply) => {
      await discounts.remove(request.params.id, writeOf(request))
      return reply.code(204).send(null)
    }
  )
}
