import type { Queryable } from './postgres/database.ts'
import { statement } from './postgres/statement.ts'

/** One request of an administrator that may have changed something. `status` is unknown until it is answered. */
export type AuditEntry = {
  id: string
  actor: string
  method: string
  /** The route's pattern; `params` are the ids in its place. */
  route: string
  params: Record<string, unknown>
  requestId: string
  status: number | null
}

const KEPT_DAYS = 400

const upsertEntry = statement({
  name: 'audit.upsert_entry',
  takes: {
    id: 'uuid',
    actor: 'uuid',
    method: 'text',
    route: 'text',
    params: 'jsonb',
    requestId: 'text',
    status: 'int4?'
  },
  text: `
    insert into cartwright.audit as present (id, actor, method, route, params, request_id, status)
    values ($id, $actor, $method, $route, $params, $requestId, $status)
    on conflict (id) do update set status = excluded.status`
})
const deleteOldEntries = statement({
  name: 'audit.delete_old_entries',
  takes: { days: 'int4' },
  text: `
    delete from cartwright.audit where id in
      (select id from cartwright.audit where at <= now() - make_interval(days => $days) limit 1000 for update skip locked)`
})

/** Writes the entry down, or adds its status when it stands there already. */
export async function noteAudit(db: Queryable, entry: AuditEntry): Promise<void> {
  await db.run(upsertEntry, entry)
}

export const deleteOldAudit = (db: Queryable): Promise<number> =>
  db.run(deleteOldEntries, { days: KEPT_DAYS })
