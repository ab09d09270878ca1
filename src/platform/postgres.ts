import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type ConnectOptions, connectionSettings } from './postgres-connect.ts'
import { isRetired, isRetryable, translateConnectError, translateDatabaseError } from './postgres-errors.ts'
import { SharedConnection } from './postgres-shared.ts'
import { outsideOfTransactions, runTransaction, type Transaction } from './postgres-transaction.ts'
import type { Columns, Row, Statement } from './statement.ts'

export type { Transaction }

/** Anything that runs a statement: the database itself, or one transaction of it. */
export type Queryable = {
  /** Runs a named, prepared statement. @throws `unavailable` when the database cannot answer. */
  query<C extends Columns>(statement: Statement<C>, values: readonly unknown[]): Promise<Row<C>[]>
}

/** Figures of every connection this process holds, as `/metricsz` shows them. Durations in milliseconds. */
type PoolStatistics = {
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

export type DatabaseOptions = ConnectOptions & {
  /** Connections for transactions. */
  poolSize: number
  /** Pipelined connections that single statements share. */
  sharedConnections: number
  /** Connections for slow statements, one at a time on each. */
  slowConnections: number
  /** How long anybody may wait for a connection. */
  poolWaitMs: number
}

const TRANSACTION_RUNS_MAX = 6

/**
 * Single statements go over a few shared, pipelined connections (they cost half of a checked-out one);
 * transactions take a connection of their own from a pool, and slow statements one from another.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const settings = connectionSettings(options)
  const pool = openPool(options, connectionSettings(options, outsideOfTransactions), options.poolSize)
  const slowPool = openPool(options, settings, options.slowConnections)
  const pools = [pool, slowPool]
  const shared = Array.from(
    { length: options.sharedConnections },
    () => new SharedConnection(settings, options.poolWaitMs)
  )
  let turn = 0
  const acquired = { count: 0, empty: 0, durationMs: 0 }

  async function query<C extends Columns>(statement: Statement<C>, values: readonly unknown[]) {
    if (statement.isSlow) return runAlone(await checkOut(slowPool), statement, values)
    turn = (turn + 1) % shared.length
    const connection = shared[turn] as SharedConnection
    acquired.count += 1
    if (!connection.isOpen) acquired.empty += 1
    return connection.query(statement, values)
  }

  async function checkOut(from: pg.Pool): Promise<pg.PoolClient> {
    const startedAt = performance.now()
    acquired.count += 1
    if (from.idleCount === 0) acquired.empty += 1
    try {
      return await from.connect()
    } catch (error) {
      throw translateConnectError(error)
    } finally {
      acquired.durationMs += performance.now() - startedAt
    }
  }

  async function transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let run = 1; ; run += 1) {
      try {
        return await runTransaction(await checkOut(pool), work)
      } catch (error) {
        if (!isRetryable(error)) throw error
        if (run === TRANSACTION_RUNS_MAX) throw translateDatabaseError(error)
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
      const taken = sumOf(pools, each => each.totalCount - each.idleCount) + busy.length
      const total = sumOf(pools, each => each.totalCount) + open.length
      return {
        max_conns: sumOf(pools, each => each.options.max) + shared.length,
        total_conns: total,
        acquired_conns: taken,
        idle_conns: total - taken,
        acquire_count: acquired.count,
        empty_acquire_count: acquired.empty,
        acquire_duration_ms: acquired.durationMs + sumOf(shared, each => each.waitedMs)
      }
    },
    close: async () => {
      await Promise.all([...pools.map(each => each.end()), ...shared.map(connection => connection.close())])
    }
  }
}

function openPool({ poolWaitMs }: DatabaseOptions, settings: pg.ClientConfig, max: number): pg.Pool {
  const pool = new pg.Pool({
    ...settings,
    pipeline: true,
    max,
    connectionTimeoutMillis: poolWaitMs,
    idleTimeoutMillis: 60_000
  } as pg.PoolConfig)
  // An idle connection that breaks is replaced at its next use; without a listener it would end the process. So would
  // one that breaks in the instant in which it is handed out.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** Runs one statement on a connection of its own and gives that back, unless it is broken. */
async function runAlone<C extends Columns>(
  client: pg.PoolClient,
  { name, text }: Statement<C>,
  values: readonly unknown[]
): Promise<Row<C>[]> {
  let broken: Error | undefined
  const remember = (error: Error) => {
    broken = error
  }
  client.on('error', remember)
  try {
    return (await client.query({ name, text, values: values as unknown[] })).rows
  } catch (error) {
    if (isRetired(error)) remember(error as Error)
    throw translateDatabaseError(error)
  } finally {
    client.off('error', remember)
    client.release(broken)
  }
}

const sumOf = <T>(all: readonly T[], figure: (each: T) => number): number =>
  all.reduce((sum, each) => sum + figure(each), 0)
