import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { AuditListResponse, AuditQuery } from './schema.ts'
import type { AuditListService } from './service.ts'

export function auditRoutes(tiers: Tiers, audit: AuditListService): void {
  tiers.admin.get(
    '/admin/audit',
    {
      config: { class: 'account', requiresFullAccess: true },
      schema: {
        summary: 'List audit entries',
        description:
          'Returns the writes of administrators and of commands, latest first, including failed ones. Filter by `actor`, `route`, `id` and time; `id` finds every entry about one object. Needs an administrator with full access.',
        querystring: AuditQuery,
        response: { 200: AuditListResponse }
      }
    },
    request => audit.list(request.query)
  )
}
