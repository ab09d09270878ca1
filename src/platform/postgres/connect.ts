import pg from 'pg'
import { OperatorError } from '../../kernel/errors.ts'
import { closePgClient } from './clients.ts'
import { DatabaseHosts } from './connections/hosts.ts'
import {
  type DatabaseConnectConfig,
  type DatabaseSessionSettings,
  markSessionSettings,
  verifySession
} from './connections/session.ts'

export type DatabaseConnectOptions = {
  url: string
  /** The hosts of `url`, when several pools share what they know of them. */
  hosts?: DatabaseHosts
  statementTimeoutMs: number
  lockTimeoutMs: number
  /** Whether this process only reads. */
  isReadOnly?: boolean
}

const POSTGRES_VERSION_MIN = 150_000
/** Unless the URL has libpq's parameter `connect_timeout`, in seconds. */
const CONNECT_TIMEOUT_MS = 3_000
/** The server releases the locks of a transaction after this when its process died or hangs. */
const IDLE_IN_TRANSACTION_MS = 2_000
/**
 * The client's query timeout exceeds the server's statement timeout by this, so it ends a statement only when server or
 * network do not respond.
 */
const SERVER_HEAD_START_MS = 250

const parseInt8 = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a JavaScript integer`)
  return value
}
pg.types.setTypeParser(pg.types.builtins.INT8, parseInt8)
/** Type OID of `bigint[]`, which the client library does not name. The arrays hold no nulls. */
const INT8_ARRAY: number = 1016
pg.types.setTypeParser(INT8_ARRAY, text => (text === '{}' ? [] : text.slice(1, -1).split(',').map(parseInt8)))

// Parses a timestamp. Sessions run in UTC, so the text always ends in `+00`: this costs a twentieth of the general
// parser. A join repeats values of its left side, so the latest value is cached.
let latest = { text: '', time: Number.NaN }
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, text => {
  if (text !== latest.text) latest = { text, time: Date.parse(`${text.replace(' ', 'T')}:00`) }
  return new Date(latest.time)
})

/**
 * Planner settings for statements whose best plan depends on their parameters: how common a word is, whether there is a
 * filter. Planning a list costs 0.1 ms; the generic plan of a search took up to 5 s (2026-11-21, 20,000 products).
 */
export const forceCustomPlanSettings = { plan_cache_mode: 'force_custom_plan' }

/**
 * Planner settings for statements that write, which find their rows by key. A generic plan is made once per connection. Made
 * while a table is empty, it would scan the whole table later, until PostgreSQL analyzes it. Without an index the scan still
 * happens.
 */
export const noSequentialScanSettings = { enable_seqscan: 'off' }

/**
 * Planner settings for fast statements, whose rows are found by key and are in memory; the server's default is for rotating
 * disks. They make the lines of a cart an index lookup: 23 us instead of 27 (2026-11). As tables grow while plans stay,
 * sequential scans are off here too.
 */
export const keyLookupPlannerSettings = { ...noSequentialScanSettings, random_page_cost: '1.1' }

/** Settings of every session of a process that only reads. They still hold when its standby was promoted. */
const readOnlySettings = { default_transaction_read_only: 'on' }

/**
 * The settings every connection starts with. Generic plans cost a third of re-planning on the hot statements. No plan is
 * parallel, because `enable_seqscan=off` makes the scan of an empty table look expensive. Two workers were started for it:
 * 57.7 ms instead of 0.08 (2026-11). So the number of connections also bounds the server processes that work for a shop.
 */
export const initialSessionSettings = (
  options: DatabaseConnectOptions,
  more: DatabaseSessionSettings = {}
): DatabaseSessionSettings => ({
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  max_parallel_workers_per_gather: 0,
  statement_timeout: options.statementTimeoutMs,
  lock_timeout: options.lockTimeoutMs,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  timezone: 'UTC',
  datestyle: 'ISO',
  ...more,
  ...(options.isReadOnly && readOnlySettings)
})

export function pgClientConfig(
  options: DatabaseConnectOptions,
  more: DatabaseSessionSettings = {}
): DatabaseConnectConfig {
  const hosts = options.hosts ?? new DatabaseHosts(options.url)
  const parameters = URL.parse(hosts.urls[0] as string)?.searchParams ?? new URLSearchParams()
  const timeoutSeconds = Number(parameters.get('connect_timeout'))
  const session = markSessionSettings(initialSessionSettings(options, more))
  const ours = Object.entries(session).map(([name, value]) => `-c ${name}=${value}`)
  return {
    hosts,
    session,
    application_name: 'cartwright',
    keepAlive: true,
    connectionTimeoutMillis: timeoutSeconds > 0 ? timeoutSeconds * 1_000 : CONNECT_TIMEOUT_MS,
    query_timeout: options.statementTimeoutMs + SERVER_HEAD_START_MS,
    options: [...parameters.getAll('options'), ...ours].join(' ')
  }
}

/** Creates a client for one host; the caller connects it. */
export function createPgClient(
  { hosts, ...config }: DatabaseConnectConfig,
  index = hosts.current
): pg.Client {
  // `pg` lets parameters of the URL replace the settings beside it. So `options` of the URL are taken out of it; they
  // are before those of the shop.
  const url = new URL(hosts.urls[index] as string)
  url.searchParams.delete('options')
  const client = new pg.Client({ ...config, connectionString: url.href })
  // Without a listener, a broken connection would end the process.
  client.on('error', () => {})
  return client
}

/** The database cannot be reached; the message says why. */
export class DatabaseUnreachableError extends OperatorError {}
/** The database was reached, and the connection was lost. */
export class DatabaseLostError extends DatabaseUnreachableError {}

/**
 * Opens a connection outside of the pools and checks the server's version. Tries the hosts of the URL in turn.
 * @throws OperatorError when no server can be reached, all refuse us, or one is too old.
 */
export async function openUnpooledPgClient(
  config: Partial<DatabaseConnectConfig> & { url?: string }
): Promise<pg.Client> {
  const { url = '', hosts = new DatabaseHosts(url), ...rest } = config
  const settings = { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, session: {}, ...rest, hosts }
  const failures: string[] = []
  let failure = new Error() as NodeJS.ErrnoException
  for (const _ of hosts.urls) {
    const index = hosts.current
    try {
      return await openOnHost(settings, index)
    } catch (error) {
      if (error instanceof OperatorError) throw error
      hosts.leave(index)
      failure = error as NodeJS.ErrnoException
      const host = hosts.urls.length > 1 ? `${new URL(hosts.urls[index] as string).host}: ` : ''
      failures.push(`${host}${failure.message || failure.code}`)
    }
  }
  throw new DatabaseUnreachableError(
    `Cannot reach the database: ${failures.join('; ')}. ${adviceFor(failure)}`
  )
}

async function openOnHost(settings: DatabaseConnectConfig, index: number): Promise<pg.Client> {
  const client = createPgClient(settings, index)
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    const version = Number(rows[0]?.server_version_num)
    if (version < POSTGRES_VERSION_MIN)
      throw new OperatorError(
        `The database runs PostgreSQL ${Math.floor(version / 10_000)}; Cartwright needs 15 or newer.`
      )
    await verifySession(client, settings, index)
    return client
  } catch (error) {
    await closePgClient(client)
    throw error
  }
}

const TOO_MANY_CONNECTIONS = '53300'
/** PgBouncer rejects startup parameters that it does not know. */
const REJECTED_OPTIONS = /unsupported startup parameter/
const adviceFor = ({ code, message }: NodeJS.ErrnoException): string => {
  if (code === TOO_MANY_CONNECTIONS)
    return 'Run fewer processes, open fewer connections in each (database.pool_size), or raise max_connections of the server.'
  if (REJECTED_OPTIONS.test(message))
    return 'Add options to ignore_startup_parameters of PgBouncer; the shop then sets its settings itself.'
  return 'Check DATABASE_URL (database.url).'
}
