import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { DryRunRequest, DryRunResponse } from './schema.ts'
import type { DryRunService } from './service.ts'

export function dryRunRoutes(tiers: Tiers, dryRun: DryRunService): void {
  tiers.admin.post(
    '/admin/promotions/dry-run',
    {
      config: { class: 'account', unwritten: 'it changes nothing' },
      schema: {
        summary: 'What a basket would cost, and why codes do not count',
        body: DryRunRequest,
        response: { 200: DryRunResponse }
      }
    },
    request => dryRun.run(request.body)
  )
}
