import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import { SuppressionListResponse, SuppressionQuery } from './schema.ts'
import type { SuppressionList } from './service.ts'

const config = { class: 'account' } as const

export function suppressionRoutes(tiers: Tiers, suppressions: SuppressionList): void {
  tiers.admin.get(
    '/admin/notifications/suppressions',
    {
      config,
      schema: {
        summary: 'List suppressions',
        description:
          'Returns the addresses that get no mails, or no optional mails, newest first. An address is added when the mail server reports that it does not exist, or when its owner unsubscribes. Filter by `address` to find out why a recipient gets no mail. The response shows addresses masked.',
        querystring: SuppressionQuery,
        response: { 200: SuppressionListResponse }
      }
    },
    request => suppressions.list(request.query)
  )
  tiers.admin.delete(
    '/admin/notifications/suppressions/:id',
    {
      config,
      schema: {
        summary: 'Delete a suppression',
        description:
          'Removes an address from the suppression list, so that mails are sent to it again. Do this when the recipient asks for it, or when a bounced address works again. 404 `NOTIFICATION_SUPPRESSION_NOT_FOUND`: it does not exist or was deleted before.',
        params: IdParams,
        response: noContent
      }
    },
    request => suppressions.remove(request.params.id, writeOf(request))
  )
}
