import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { PromotionDryRunRequest, PromotionDryRunResponse } from './schema.ts'
import type { PromotionDryRunService } from './service.ts'

export function promotionDryRunRoutes(tiers: Tiers, dryRun: PromotionDryRunService): void {
  tiers.admin.post(
    '/admin/promotions/dry-run',
    {
      config: { class: 'account', noReplay: 'it changes nothing' },
      schema: {
        summary: 'Preview promotions',
        description:
          'Calculates the price of hypothetical items with promotions and codes, and stores nothing. `reason` of a finding states why a code has no effect. `at` calculates for a future time. 400 `PRICING_QUOTE_TOO_LARGE`: `what` exceeds `limit`. 400 `PRICING_SHIPPING_OPTION_UNKNOWN`: `shipping_option` must be one of `shipping_options`.',
        body: PromotionDryRunRequest,
        response: { 200: PromotionDryRunResponse }
      }
    },
    request => dryRun.run(request.body)
  )
}
