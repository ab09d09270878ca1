import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { AuditListResponse, AuditQuery } from './schema.ts'
import type { AuditService } from './service.ts'

export function auditRoutes(tiers: Tiers, audit: AuditService): void {
  tiers.admin.get(
    '/admin/audit',
    {
      config: { class: 'account', wholeShop: true },
      schema: {
        summary: 'What administrators have changed, the latest first',
        querystring: AuditQuery,
        response: { 200: AuditListResponse }
      }
    },
    request => audit.list(request.query)
  )
}
