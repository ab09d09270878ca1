import type { Socket } from 'node:net'
import pg from 'pg'
import { OperatorError } from '../../kernel/errors.ts'

export type ConnectOptions = { url: string; statementTimeoutMs: number; lockTimeoutMs: number }

const POSTGRES_VERSION_MIN = 150_000
const CONNECT_TIMEOUT_MS = 3_000
/** Locks of a transaction whose process has gone, or stands still, are free after this. */
const IDLE_IN_TRANSACTION_MS = 2_000
const GOODBYE_MS_MAX = 1_000
/** The server gives up first; this much later we give up on a server, or a network, that does not answer at all. */
const SERVER_HEAD_START_MS = 250

pg.types.setTypeParser(pg.types.builtins.INT8, text => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a JavaScript integer`)
  return value
})

// Sessions run in UTC, so the text is always `2026-11-21 02:33:06.291+00`: a twentieth of the general parser's cost.
// The left side of a join comes again with every row of the right, and is parsed once.
let latest = { text: '', time: Number.NaN }
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, text => {
  if (text !== latest.text) latest = { text, time: Date.parse(`${text.replace(' ', 'T')}:00`) }
  return new Date(latest.time)
})

/**
 * For statements whose best plan depends on what is asked for: how common a word is, whether there is a filter at all.
 * Planning a list costs 0.1 ms; the generic plan of a search took up to 5 s (2026-11-21, 20,000 products).
 */
export const plannedForValues = { plan_cache_mode: 'force_custom_plan' }

/**
 * For statements that write, which find their rows by key. A plan is made once a connection: made while a table was empty,
 * it would read all that came into it since, until PostgreSQL analyzes the table. What no index leads to is read as ever.
 */
export const plannedForKeys = { enable_seqscan: 'off' }

/**
 * For quick statements, whose rows are found by key and lie in memory: the server's own setting is for disks that turn. With
 * it the lines of a cart are looked up in the index directly, 4 us less of 27 (2026-11). Tables grow while plans stay, as above.
 */
export const plannedForMemory = { ...plannedForKeys, random_page_cost: '1.1' }

/** Settings of PostgreSQL for one connection, by name. */
export type SessionSettings = Readonly<Record<string, string | number>>

/**
 * The settings every connection starts with. Generic plans cost a third of re-planning on the hot statements. No plan is
 * parallel, because `enable_seqscan=off` makes the scan of an empty table look expensive: two workers were started for it,
 * 57.7 ms instead of 0.08 (2026-11). So the number of connections also bounds the server processes that work for a shop.
 */
export const sessionSettings = (options: ConnectOptions, more: SessionSettings = {}): SessionSettings => ({
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  max_parallel_workers_per_gather: 0,
  statement_timeout: options.statementTimeoutMs,
  lock_timeout: options.lockTimeoutMs,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  timezone: 'UTC',
  datestyle: 'ISO',
  ...more
})

export function connectionSettings(options: ConnectOptions, more: SessionSettings = {}) {
  // What a URL says would replace what is beside it, so its own `options` are put before ours.
  const url = new URL(options.url)
  const theirs = url.searchParams.getAll('options')
  url.searchParams.delete('options')
  const ours = Object.entries(sessionSettings(options, more)).map(([name, value]) => `-c ${name}=${value}`)
  return {
    connectionString: url.href,
    application_name: 'cartwright',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: options.statementTimeoutMs + SERVER_HEAD_START_MS,
    options: [...theirs, ...ours].join(' ')
  } satisfies pg.ClientConfig
}

/** There is no connection to the database: the sentence says why. */
export class DatabaseUnreachable extends OperatorError {}

/**
 * One connection outside of the pool, to a server that is known to be new enough.
 * @throws OperatorError when the server cannot be reached, refuses us, or is too old.
 */
export async function connectToServer(settings: pg.ClientConfig): Promise<pg.Client> {
  let client: pg.Client | undefined
  try {
    client = new pg.Client({ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, ...settings })
    // A connection that breaks fails what is under way on it; without a listener it would end the process.
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    const version = Number(rows[0]?.server_version_num)
    if (version >= POSTGRES_VERSION_MIN) return client
    throw new OperatorError(
      `The database runs PostgreSQL ${Math.floor(version / 10_000)}; Cartwright needs 15 or newer.`
    )
  } catch (error) {
    if (client !== undefined) await hangUp(client)
    if (error instanceof OperatorError) throw error
    const { message, code } = error as NodeJS.ErrnoException
    throw new DatabaseUnreachable(`Cannot reach the database: ${message || code}. ${adviceFor(code)}`)
  }
}

const TOO_MANY_CONNECTIONS = '53300'
const adviceFor = (code: string | undefined): string =>
  code === TOO_MANY_CONNECTIONS
    ? 'Run fewer processes, open fewer connections in each (database.pool_size), or raise max_connections of the server.'
    : 'Check DATABASE_URL (database.url).'

/** Ends a connection: with a goodbye, and without when the server does not take it within a second. */
export async function hangUp(client: pg.Client): Promise<void> {
  const timer = setTimeout(destroy, GOODBYE_MS_MAX, client)
  await client.end().catch(() => {})
  clearTimeout(timer)
}

/** Ends a connection without a goodbye, and fails what is under way on it. */
export const destroy = (client: pg.Client): void => {
  streamOf(client).destroy()
}

/** The socket of a connection, which `pg` does not declare. */
export const streamOf = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream
