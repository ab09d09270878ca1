import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import { SuppressionListResponse, SuppressionQuery } from './schema.ts'
import type { Suppressions } from './service.ts'

const config = { class: 'account' } as const

export function suppressionRoutes(tiers: Tiers, suppressions: Suppressions): void {
  tiers.admin.get(
    '/admin/notifications/suppressions',
    {
      config,
      schema: {
        summary: 'Addresses to which less is sent, or nothing, the newest first',
        querystring: SuppressionQuery,
        response: { 200: SuppressionListResponse }
      }
    },
    request => suppressions.list(request.query)
  )
  tiers.admin.delete(
    '/admin/notifications/suppressions/:id',
    { config, schema: { summary: 'Send to an address again', params: IdParams, response: noContent } },
    request => suppressions.lift(request.params.id, writeOf(request))
  )
}
