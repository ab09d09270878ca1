import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { CreateDiscountRequest, DiscountResponse, UpdateDiscountRequest } from './schema.ts'
import type { DiscountService } from './service.ts'

const config = { class: 'account' } as const

export function discountRoutes(tiers: Tiers, discounts: DiscountService): void {
  tiers.admin.get(
    '/catalog/discounts',
    {
      config,
      schema: {
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
        summary: 'Create a discount',
        body: CreateDiscountRequest,
        response: { 201: DiscountResponse }
      }
    },
    request => discounts.create(request.body, writeOf(request))
  )

  tiers.admin.patch(
    '/catalog/discounts/:id',
    {
      config,
      schema: {
        summary: 'Change when a discount runs',
        params: IdParams,
        body: UpdateDiscountRequest,
        response: { 200: DiscountResponse }
      }
    },
    request => discounts.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/discounts/:id',
    { config, schema: { summary: 'Delete a discount', params: IdParams, response: noContent } },
    request => discounts.remove(request.params.id, writeOf(request))
  )
}
