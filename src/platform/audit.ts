import { HIGHEST_ID, newId } from '../kernel/ids.ts'
import { LATEST_MICROSECOND, type Page, readPage } from '../kernel/pages.ts'
import type { PageQuery } from '../kernel/wire.ts'
import { countUpTo } from './postgres/counting.ts'
import type { Queryable } from './postgres/database.ts'
import { type RowOf, statement } from './postgres/statement.ts'

/** One writing request of an administrator. `status` is null until the response. */
export type AuditEntry = {
  id: string
  actor: string
  method: string
  /** The route's pattern; `params` are its path parameters. */
  route: string
  params: Record<string, unknown>
  requestId: string
  status: number | null
}

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
/** A null filter matches all. `id` is that of the entry, or any path parameter. */
const filters = {
  actor: 'uuid?',
  route: 'text?',
  id: 'uuid?',
  since: 'timestamptz?',
  until: 'timestamptz?'
} as const
const matching = `
  ($actor::uuid is null or actor = $actor) and ($route::text is null or route = $route)
  and ($id::uuid is null or id = $id
    or jsonb_path_query_array(params, '$.*') @> to_jsonb($id::uuid::text))
  and ($since::timestamptz is null or at >= $since) and ($until::timestamptz is null or at < $until)`
const listEntries = statement({
  name: 'audit.list_entries',
  takes: { ...filters, before: 'float8', after: 'uuid', limit: 'int8' },
  gives: {
    id: 'uuid',
    at: 'timestamptz',
    actor: 'uuid',
    method: 'text',
    route: 'text',
    params: 'jsonb',
    request_id: 'text',
    status: 'int4?',
    // Time of the entry in microseconds, which a Date cannot hold.
    place: 'float8'
  },
  slow: true,
  text: `
    select id, at, actor, method, route, params, request_id, status,
      (extract(epoch from at) * 1000000)::float8 as place
    from cartwright.audit
    where (at, id) < (timestamptz 'epoch' + $before * interval '1 microsecond', $after) and ${matching}
    order by at desc, id desc limit $limit`
})
const countEntries = statement({
  name: 'audit.count_entries',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`cartwright.audit where ${matching}`)
})

export type AuditFilters = {
  readonly actor?: string
  readonly route?: string
  readonly id?: string
  readonly since?: Date
  readonly until?: Date
}
/** The audit log of administrators' writes. */
export type AuditTrail = {
  /** Lists entries, the newest first. */
  list(filters: AuditFilters, query: PageQuery): Promise<Page<RowOf<typeof listEntries>>>
  /** Records a command of the operator in the transaction of its change. */
  noteCommand(tx: Queryable, command: string, params: Record<string, unknown>): Promise<void>
}
/** The actor of commands, because no account is logged in on the command line. */
const OPERATOR = '00000000-0000-0000-0000-000000000000'

export const createAuditTrail = (db: Queryable): AuditTrail => ({
  noteCommand: (tx, route, params) =>
    saveAuditEntry(tx, {
      id: newId(),
      actor: OPERATOR,
      method: 'COMMAND',
      route,
      params,
      requestId: '',
      status: null
    }),

  list: (given, query) => {
    const none = { actor: null, route: null, id: null, since: null, until: null }
    const wanted = { ...none, ...given }
    return readPage(query, {
      name: 'audit',
      filters: wanted,
      start: { before: LATEST_MICROSECOND, after: HIGHEST_ID },
      placeOf: ({ place, id }) => ({ before: place, after: id }),
      rows: place => db.rows(listEntries, { ...wanted, ...place }),
      total: () => db.first(countEntries, wanted)
    })
  }
})

/** Inserts the entry, or sets its status when it exists. */
export async function saveAuditEntry(db: Queryable, entry: AuditEntry): Promise<void> {
  await db.run(upsertEntry, entry)
}
