import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { DryRunRequest, DryRunResponse } from './schema.ts'
import type { DryRunService } from './service.ts'

export function dryRunRoutes(tiers: Tiers, dryRun: DryRunService): void {
  tiers.admin.post(
    '/admin/promotions/dry-run',
    {
      config: { class: 'account', noReplay: 'it changes nothing' },
      schema: {
        summary: 'Preview promotions',
        description:
          'Calculates the price of hypothetical items with promotions and codes, and stores nothing. `reason` of a finding states why a code has no effect. `at` calculates for a future time. 400 `PRICING_QUOTE_TOO_LARGE`: `what` exceeds `limit`. 400 `PRICING_SHIPPING_OPTION_UNKNOWN`: `shipping_option` must be one of `shipping_options`.',
        body: DryRunRequest,
        response: { 200: DryRunResponse }
      }
    },
    request => dryRun.run(request.body)
  )
}
