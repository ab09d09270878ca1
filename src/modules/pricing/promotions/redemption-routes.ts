import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { IdParams, listOf, PageQuery } from '../../../kernel/wire.ts'
import type { PromotionRedemptionListService } from './redemption-list.ts'
import { RedemptionResponse } from './schema.ts'

export function promotionRedemptionRoutes(tiers: Tiers, redemptions: PromotionRedemptionListService): void {
  tiers.admin.get(
    '/admin/promotions/:id/redemptions',
    {
      config: { class: 'account' },
      schema: {
        summary: "List a promotion's redemptions",
        description:
          'Returns a page of the orders that use a promotion, newest first. Canceled orders give their use back and are not listed. 404 `PRICING_PROMOTION_NOT_FOUND`: the promotion does not exist.',
        params: IdParams,
        querystring: PageQuery,
        response: { 200: listOf(RedemptionResponse) }
      }
    },
    request => redemptions.list(request.params.id, request.query)
  )
}
