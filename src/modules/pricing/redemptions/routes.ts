import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { IdParams, listOf, PageQuery } from '../../../kernel/wire.ts'
import { RedemptionResponse } from './schema.ts'
import type { RedemptionService } from './service.ts'

export function redemptionRoutes(tiers: Tiers, redemptions: RedemptionService): void {
  tiers.admin.get(
    '/admin/promotions/:id/redemptions',
    {
      config: { class: 'account' },
      schema: {
        summary: 'Which orders use a promotion, the newest first',
        params: IdParams,
        querystring: PageQuery,
        response: { 200: listOf(RedemptionResponse) }
      }
    },
    request => redemptions.list(request.params.id, request.query)
  )
}
