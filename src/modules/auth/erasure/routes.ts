import { identityOf } from '../../../gateway/callers/identity.ts'
import type { RouteLimit, Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import * as schema from './schema.ts'
import type { Erasure } from './service.ts'

export function erasureRoutes(tiers: Tiers, erasure: Erasure, exports: RouteLimit): void {
  tiers.secured.post(
    '/auth/me/delete',
    {
      config: { class: 'account' },
      schema: {
        summary: 'Delete the own account',
        description:
          'Ends all sessions. What the shop has to keep, such as the amounts of orders, says no more whose it was.',
        body: schema.DeleteAccountRequest,
        response: noContent
      }
    },
    request => erasure.leave(identityOf(request), request.body, writeOf(request))
  )
  tiers.secured.get(
    '/auth/me/export',
    {
      config: { class: 'bulk', limit: exports },
      schema: {
        summary: 'Read all that is kept of oneself',
        response: { 200: schema.AccountExportResponse }
      }
    },
    request => erasure.export(identityOf(request).userId)
  )
}
