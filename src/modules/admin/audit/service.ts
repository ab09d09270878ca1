import type { AuditFilters, AuditTrail } from '../../../platform/audit.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { AuditQuery } from './schema.ts'

type Deps = { audit: AuditTrail; auth: Pick<AuthApi, 'contacts'> | undefined }

/** Lists audit entries with the e-mail addresses of their actors. */
export function createAuditListService({ audit, auth }: Deps) {
  return {
    async list({ actor, route, id, since, until, ...query }: AuditQuery) {
      const filters: AuditFilters = {
        ...(actor !== undefined && { actor }),
        ...(route !== undefined && { route }),
        ...(id !== undefined && { id }),
        ...(since !== undefined && { since: new Date(since) }),
        ...(until !== undefined && { until: new Date(until) })
      }
      const page = await audit.list(filters, query)
      const actors = [...new Set(page.items.map(entry => entry.actor))]
      const contacts = actors.length === 0 ? [] : ((await auth?.contacts(actors)) ?? [])
      const emails = new Map(contacts.map(contact => [contact.id, contact.email]))
      return {
        ...page,
        items: page.items.map(entry => ({ ...entry, actor_email: emails.get(entry.actor) ?? null }))
      }
    }
  }
}
export type AuditListService = ReturnType<typeof createAuditListService>
