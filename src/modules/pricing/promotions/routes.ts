import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { CreatePromotionRequest, PromotionResponse, UpdatePromotionRequest } from './schema.ts'
import type { PromotionService } from './service.ts'

const config = { class: 'account' } as const

export function promotionRoutes(tiers: Tiers, promotions: PromotionService): void {
  tiers.admin.get(
    '/admin/promotions',
    {
      config,
      schema: {
        summary: 'All promotions, the newest first',
        querystring: PageQuery,
        response: { 200: listOf(PromotionResponse) }
      }
    },
    request => promotions.list(request.query)
  )

  tiers.admin.post(
    '/admin/promotions',
    {
      config,
      schema: {
        summary: 'Create a promotion',
        body: CreatePromotionRequest,
        response: { 201: PromotionResponse }
      }
    },
    request => promotions.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/promotions/:id',
    {
      config,
      schema: { summary: 'Show a promotion', params: IdParams, response: { 200: PromotionResponse } }
    },
    request => promotions.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/promotions/:id',
    {
      config,
      schema: {
        summary: 'Change a promotion',
        params: IdParams,
        body: UpdatePromotionRequest,
        response: { 200: PromotionResponse }
      }
    },
    request => promotions.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/promotions/:id',
    {
      config,
      schema: { summary: 'Delete a promotion and its codes', params: IdParams, response: noContent }
    },
    request => promotions.remove(request.params.id, writeOf(request))
  )
}
