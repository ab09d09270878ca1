import { createHash } from 'node:crypto'
import type pg from 'pg'
import { type DatabaseHosts, ServerRejectedError } from './hosts.ts'

/** Settings of PostgreSQL for one connection, by name. */
export type DatabaseSessionSettings = Readonly<Record<string, string | number>>

/** How connections are opened: `hosts` and `session` are ours, the rest is of the client library. */
export type DatabaseConnectConfig = pg.ClientConfig & {
  hosts: DatabaseHosts
  session: DatabaseSessionSettings
  connectionTimeoutMillis: number
}

/** A setting of PostgreSQL without meaning to it, sent after all others. A session that has it has the others as well. */
const MARK = 'cartwright.session'
const SET_ALL = 'select set_config(key, value, false) from json_each_text($1)'
const LOOK = `select current_setting('${MARK}', true) as mark`
/** The timeline is the first eight digits of the name of the write-ahead log file. A standby has none to write to. */
const LOOK_AT_HOST = `${LOOK}, pg_is_in_recovery() as is_standby,
  case when pg_is_in_recovery() then null else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`

/** Adds a mark to the settings of a session, which differs for different settings. */
export function markSessionSettings(settings: DatabaseSessionSettings): DatabaseSessionSettings {
  const mark = createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 16)
  return { ...settings, [MARK]: mark }
}

/**
 * Verifies a new connection to host `index`: it must have the session settings, which a pooler may drop
 * (`ignore_startup_parameters` of PgBouncer), and its server must be a primary where one is required. Sets missing settings.
 * @throws when the server cannot be used.
 */
export async function verifySession(
  client: pg.Client,
  { hosts, session, connectionTimeoutMillis }: DatabaseConnectConfig,
  index: number
): Promise<void> {
  hosts.prefer(client, index)
  if (session[MARK] === undefined && !hosts.requiresPrimary) return
  const ask = <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    client.query<R>({ text, values, query_timeout: connectionTimeoutMillis } as pg.QueryConfig)
  const { rows } = await ask<{ mark: string | null; is_standby?: boolean; timeline?: string | null }>(
    hosts.requiresPrimary ? LOOK_AT_HOST : LOOK
  )
  const [{ mark, is_standby: isStandby, timeline }] = rows as [(typeof rows)[0]]
  if (hosts.requiresPrimary) {
    if (isStandby !== false) throw new ServerRejectedError('it is a standby, which can only be read')
    hosts.admit(client, index, Number.parseInt(timeline ?? '', 16))
  }
  if (session[MARK] !== undefined && mark !== session[MARK]) await ask(SET_ALL, [JSON.stringify(session)])
}
