import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { DomainError, OperatorError } from '../kernel/errors.ts'
import { isRetryable, translateDatabaseError } from './postgres-errors.ts'
import { SharedConnection } from './postgres-shared.ts'
import type { Columns, Row, Statement } from './statement.ts'

/** Anything that runs a statement: the database itself, or one transaction of it. */
export type Queryable = {
  /** Runs a named, prepared statement. @throws `unavailable` when the database cannot answer. */
  query<C extends Columns>(statement: Statement<C>, values: readonly unknown[]): Promise<Row<C>[]>
}

declare const inTransaction: unique symbol
/** One open transaction. A function that asks for it can only be called inside `transaction`. */
export type Transaction = Queryable & { readonly [inTransaction]: true }

/** Figures of every connection this process holds, as `/metricsz` shows them. Durations in milliseconds. */
export type PoolStatistics = {
  max_conns: number
  total_conns: number
  acquired_conns: number
  idle_conns: number
  acquire_count: number
  empty_acquire_count: number
  acquire_duration_ms: number
}

export type Database = Queryable & {
  /** Runs `work` in a transaction; after a serialization failure or deadlock it runs again, 5 times at most. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** One real round trip. */
  ping(): Promise<void>
  statistics(): PoolStatistics
  close(): Promise<void>
}

export type DatabaseOptions = {
  url: string
  /** Connections for transactions. */
  poolSize: number
  /** Pipelined connections that single statements share. */
  sharedConnections: number
  /** How long a transaction may wait for a connection. */
  poolWaitMs: number
  statementTimeoutMs: number
  lockTimeoutMs: number
}

const POSTGRES_VERSION_MIN = 150_000
const TRANSACTION_RUNS_MAX = 6
const CONNECT_TIMEOUT_MS = 3_000
const IDLE_IN_TRANSACTION_MS = 5_000

pg.types.setTypeParser(pg.types.builtins.INT8, text => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a JavaScript integer`)
  return value
})

// Sessions run in UTC, so the text is always `2026-11-21 02:33:06.291+00`: a twentieth of the general parser's cost.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, text => new Date(`${text.replace(' ', 'T')}:00`))

/** The settings every connection starts with. Generic plans cost a third of re-planning on the hot statements. */
export function connectionSettings(options: DatabaseOptions): pg.ClientConfig {
  const settings = {
    plan_cache_mode: 'force_generic_plan',
    statement_timeout: options.statementTimeoutMs,
    lock_timeout: options.lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    timezone: 'UTC'
  }
  return {
    connectionString: options.url,
    application_name: 'cartwright',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // The server gives up first; this limit is for a server, or a network, that does not answer at all.
    query_timeout: options.statementTimeoutMs + 2_000,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' ')
  }
}

/**
 * Single statements go over a few shared, pipelined connections (they cost half of a checked-out one);
 * transactions take a connection of their own from a pool.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const settings = connectionSettings(options)
  const pool = new pg.Pool({
    ...settings,
    pipeline: true,
    max: options.poolSize,
    connectionTimeoutMillis: options.poolWaitMs,
    idleTimeoutMillis: 60_000
  } as pg.PoolConfig)
  // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
  pool.on('error', () => {})
  const shared = Array.from({ length: options.sharedConnections }, () => new SharedConnection(settings))
  let turn = 0
  const acquired = { count: 0, empty: 0, durationMs: 0 }

  async function query<C extends Columns>(statement: Statement<C>, values: readonly unknown[]) {
    turn = (turn + 1) % shared.length
    const connection = shared[turn] as SharedConnection
    acquired.count += 1
    if (!connection.isOpen) acquired.empty += 1
    return connection.query(statement, values)
  }

  async function checkOut(): Promise<pg.PoolClient> {
    const startedAt = performance.now()
    acquired.count += 1
    if (pool.idleCount === 0) acquired.empty += 1
    try {
      return await pool.connect()
    } catch (error) {
      throw translateDatabaseError(error)
    } finally {
      acquired.durationMs += performance.now() - startedAt
    }
  }

  async function runOnce<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await checkOut()
    let broken: Error | undefined
    const remember = (error: Error) => {
      broken = error
    }
    client.on('error', remember)
    try {
      // Not awaited: the connection is pipelined, so `begin` travels with the first statement.
      const begun = client.query('begin')
      begun.catch(() => {})
      const result = await work(transactionOn(client))
      await begun
      await client.query('commit')
      return result
    } catch (error) {
      if (!(error instanceof DomainError)) broken ??= connectionFault(error)
      await client.query('rollback').catch(remember)
      throw translateDatabaseError(error)
    } finally {
      client.off('error', remember)
      client.release(broken)
    }
  }

  async function transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let run = 1; ; run += 1) {
      try {
        return await runOnce(work)
      } catch (error) {
        if (!isRetryable(error) || run === TRANSACTION_RUNS_MAX) throw error
        await delay(Math.random() * 10 * 2 ** run)
      }
    }
  }

  return {
    query,
    transaction,
    ping: async () => {
      await (shared[0] as SharedConnection).ping()
    },
    statistics: () => {
      const open = shared.filter(connection => connection.isOpen)
      const busy = open.filter(connection => connection.inFlight > 0)
      const taken = pool.totalCount - pool.idleCount + busy.length
      const total = pool.totalCount + open.length
      return {
        max_conns: options.poolSize + shared.length,
        total_conns: total,
        acquired_conns: taken,
        idle_conns: total - taken,
        acquire_count: acquired.count,
        empty_acquire_count: acquired.empty,
        acquire_duration_ms: acquired.durationMs + shared.reduce((sum, each) => sum + each.waitedMs, 0)
      }
    },
    close: async () => {
      await Promise.all([pool.end(), ...shared.map(connection => connection.close())])
    }
  }
}

function transactionOn(client: pg.PoolClient): Transaction {
  const query: Queryable['query'] = async (statement, values) => {
    const result = await client.query({
      name: statement.name,
      text: statement.text,
      values: values as unknown[]
    })
    return result.rows
  }
  return { query } as Transaction
}

/** An error that is not the server's answer to a statement leaves the connection in doubt: it must not be reused. */
function connectionFault(error: unknown): Error | undefined {
  const answered = error instanceof pg.DatabaseError && !isRetired(error.code)
  return answered || !(error instanceof Error) ? undefined : error
}

// A server that turned read-only was failed over: its connections belong to yesterday.
const isRetired = (code: string | undefined) => code === '25006' || code?.startsWith('57P') === true

/**
 * One connection outside of the pool, to a server that is known to be new enough.
 * @throws OperatorError when the server cannot be reached, refuses us, or is too old.
 */
export async function connectToServer(settings: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, ...settings })
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    const version = Number(rows[0]?.server_version_num)
    if (version >= POSTGRES_VERSION_MIN) return client
    throw new OperatorError(
      `The database runs PostgreSQL ${Math.floor(version / 10_000)}; Cartwright needs 15 or newer.`
    )
  } catch (error) {
    await client.end().catch(() => {})
    if (error instanceof OperatorError) throw error
    const reason = (error as Error).message || (error as NodeJS.ErrnoException).code
    throw new OperatorError(`Cannot reach the database: ${reason}. Check DATABASE_URL (database.url).`)
  }
}
