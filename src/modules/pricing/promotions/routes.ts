import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import {
  CreatePromotionRequest,
  PromotionQuery,
  PromotionResponse,
  UpdatePromotionRequest
} from './schema.ts'
import type { PromotionService } from './service.ts'

const config = { class: 'account' } as const

export function promotionRoutes(tiers: Tiers, promotions: PromotionService): void {
  tiers.admin.get(
    '/admin/promotions',
    {
      config,
      schema: {
        summary: 'List promotions',
        description:
          'Returns a page of all promotions, newest first, inactive ones included. `uses_left` is the number of uses that remain.',
        querystring: PromotionQuery,
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
        description:
          'Creates a promotion, a discount on items, on the order or on shipping. With `needs_code` it applies only with a code: create codes next. Otherwise it applies automatically. 400 `PRICING_EFFECT_INVALID`, `PRICING_PERIOD_INVALID` or `PRICING_PROMOTION_MARKET_UNKNOWN`: correct the named field. 409 `PRICING_PROMOTION_LIMIT`: too many promotions without a code are active; deactivate one or set `needs_code`.',
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
      schema: {
        summary: 'Retrieve a promotion',
        description:
          'Returns a promotion. `uses_left` is the number of uses that remain. 404 `PRICING_PROMOTION_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: PromotionResponse }
      }
    },
    request => promotions.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/promotions/:id',
    {
      config,
      schema: {
        summary: 'Update a promotion',
        description:
          'Updates a promotion; omitted fields stay. Existing orders keep their price. 400 `PRICING_EFFECT_INVALID`, `PRICING_PERIOD_INVALID` or `PRICING_PROMOTION_MARKET_UNKNOWN`: correct the named field. 409 `PRICING_PROMOTION_LIMIT`: too many promotions without a code are active; deactivate one or set `needs_code`. 409 `PRICING_USES_TAKEN`: `uses_max` is less than its current uses. 412 `PRICING_PROMOTION_STALE`: it has changed since; read it again.',
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
      schema: {
        summary: 'Delete a promotion',
        description:
          'Deletes a promotion with its codes. 409 `PRICING_PROMOTION_USED`: orders use it; set `active` to false instead. 412 `PRICING_PROMOTION_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => promotions.remove(request.params.id, writeOf(request))
  )
}
