import { setTimeout as delay } from 'node:timers/promises'
import { pgClientConfig } from './connect.ts'
import { createDeadPeerDetection } from './connections/dead-peer-detection.ts'
import type { ConnectionPool } from './connections/pool.ts'
import {
  isConnectionUnusable,
  isLockTimeout,
  isPreparedStatementStale,
  isQueryTimeout,
  translateDatabaseError
} from './errors.ts'
import {
  type ConnectionPoolStatistics,
  type DatabaseOptions,
  openConnectionPools,
  sharedAndSlowStatementTimeouts
} from './pools.ts'
import { createQueryable, type Queryable, type SendStatement } from './queryable.ts'
import { readOnlyDatabase } from './read-only.ts'
import { findCommittedPosition, openReplica, type ReplicaStatistics } from './replica/replica.ts'
import { createCallBatcher } from './transactions/call-batching.ts'
import {
  type DedicatedConnection,
  type DedicatedConnectionOptions,
  openDedicatedConnection
} from './transactions/dedicated-connection.ts'
import { createGroupCommit } from './transactions/group-commit.ts'
import { createKeyedQueue } from './transactions/keyed-queue.ts'
import {
  type CheckedOutConnection,
  canRetryTransaction,
  runTransaction,
  type Transaction,
  type TransactionRunner,
  type TransactionRunOptions,
  type TransactionWork
} from './transactions/transaction.ts'

export type { DatabaseOptions, DedicatedConnection, Queryable, Transaction, TransactionRunner }

/**
 * The database: runs single statements, and transactions.
 * @example
 * const inOne = (db: Database, work: (tx: Transaction) => Promise<void>) => db.transaction(work)
 */
export type Database = Queryable &
  TransactionRunner & {
    /**
     * Returns this database with serialized transactions: per key, one transaction of this process holds a connection at a
     * time. Use it for rows that all requests of one customer lock. With several keys, all callers must use the same order.
     */
    serializedBy(key: string): Database
    /**
     * Returns this database with group commit: transactions that begin in one turn of the event loop share one. So an order
     * takes 1.6 ms of CPU instead of 2.3 (2026-11). Use it where transactions lock no common rows. When one fails, the shared
     * transaction is rolled back; the failed one is retried alone, the others together.
     */
    groupCommit(): Database
    /**
     * Runs `work` for the items of several callers at once: those that arrive while earlier batches run. `work` must be one
     * statement that waits for no lock, and returns a result for each item, by index. A failed batch is retried item by
     * item, so one caller's item never fails another's.
     */
    batchCalls<I, O>(work: (items: readonly I[]) => Promise<readonly O[]>): (item: I) => Promise<O>
    /** Whether a transaction with this key runs or waits in this process. */
    isKeyBusy(key: string): boolean
    /** Opens a connection for one caller, which must close it. */
    dedicated(options?: DedicatedConnectionOptions): DedicatedConnection
    /** Starts opening the connections for reads and returns immediately. */
    prepare(): void
    /** Whether this process only reads. It then rejects transactions, and statements that write or lock, without sending them. */
    readonly isReadOnly: boolean
    /** Makes one round trip over a connection that nothing else uses. */
    ping(): Promise<void>
    /** Whether one pool has no connection because the server accepts no more. */
    isOutOfConnections(): boolean
    /** Writes and commits without changing data. @throws `unavailable` with the reason when the database cannot be written. */
    proveWrite(): Promise<void>
    /** Finds connections whose peer vanished without closing them, and closes them. Call it after a query timeout. */
    closeDeadConnections(): Promise<void>
    statistics(): ConnectionPoolStatistics
    /** Statistics of the replica; undefined without one. */
    replicaStatistics(): ReplicaStatistics | undefined
    close(): Promise<void>
  }

type Sent = Parameters<SendStatement>[0]

/** Lock timeout of a group commit: every lock wait delays all its callers. */
const TOGETHER_LOCK_MS_MAX = 50
const TRANSACTION_RUNS_MAX = 6
const RETRY_PAUSE_MS = 10
/** How long a read that hit a lock timeout runs on the pool for writes. */
const LOCKED_MS = 1_000

/**
 * Opens the connections of this process. Single reads share a few pipelined connections, at half the cost of a checked-out
 * one. Work that may wait has its own pools: transactions, transactions that waited for a lock, single writes, slow reads.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { onStatement, poolWaitMs: waitMs, statementTimeoutMs, lockTimeoutMs } = options
  const { sharedMs, slowMs, replicaMs } = sharedAndSlowStatementTimeouts(options)
  const pools = openConnectionPools(options, () => endSilentConnections())
  const { transactions, patient, writes, slow, shared, probes, acquired } = pools
  /** Reads that hit a lock timeout, such as on a table that is being altered: until when they use the pool for writes. */
  const locked = new Map<string, number>()
  const endSilentConnections = createDeadPeerDetection(pgClientConfig(options), pools.suspects)

  const send: SendStatement = (statement, values) => {
    onStatement?.(statement.name)
    if (statement.mayLock) return sendAlone(writes, statement, values, statementTimeoutMs)
    if (statement.isSlow) return sendSlow(statement, values)
    if (locked.size > 0 && isLocked(statement)) return sendAlone(writes, statement, values, sharedMs)
    acquired.count += 1
    if (shared.total === 0) acquired.empty += 1
    return shared.query(statement, values).catch(error => readAgain(error, statement, values))
  }

  /** Runs a slow read on the replica, if it has all commits, otherwise on the primary. */
  async function sendSlow(statement: Sent, values: unknown[]): ReturnType<SendStatement> {
    const answer = statement.isPrimaryOnly ? undefined : await replica?.read(statement, values)
    return answer ?? sendAlone(slow, statement, values, slowMs)
  }

  /** Retries a read once over another connection when the connection caused the error. */
  async function readAgain(error: unknown, statement: Sent, values: unknown[]): ReturnType<SendStatement> {
    if (isLockTimeout(error)) locked.set(statement.name, performance.now() + LOCKED_MS)
    if (isLocked(statement)) return sendAlone(writes, statement, values, sharedMs)
    if (isPreparedStatementStale(error)) pools.renew()
    else if (!isConnectionUnusable(error)) throw translateDatabaseError(error)
    return shared.query(statement, values).catch(again => {
      throw translateDatabaseError(again)
    })
  }

  function isLocked({ name }: Sent): boolean {
    const until = locked.get(name)
    if (until === undefined || performance.now() < until) return until !== undefined
    locked.delete(name)
    return false
  }

  /** Acquires a connection; the caller must call `release`. */
  async function checkOut(from: ConnectionPool, deadlineAt?: number): Promise<CheckedOutConnection> {
    const startedAt = performance.now()
    acquired.count += 1
    if (from.total === from.busy) acquired.empty += 1
    try {
      const client = await from.acquire(deadlineAt)
      return { client, release: isBroken => from.release(client, isBroken) }
    } finally {
      acquired.durationMs += performance.now() - startedAt
    }
  }

  /** Runs a single statement on a pooled connection. */
  async function sendAlone(
    from: ConnectionPool,
    { name, text }: Sent,
    values: unknown[],
    timeoutMs: number
  ): ReturnType<SendStatement> {
    return repeated(deadlineIn(timeoutMs), async deadlineAt => {
      const { client, release: giveBack } = await checkOut(from, deadlineAt)
      let isBroken = false
      try {
        return await client.query({ name, text, values })
      } catch (error) {
        isBroken = isConnectionUnusable(error)
        if (isSilent(error)) endSilentConnections()
        throw canRetryTransaction(error) ? error : translateDatabaseError(error)
      } finally {
        giveBack(isBroken)
      }
    })
  }

  async function runOn<T>(
    from: ConnectionPool,
    work: TransactionWork<T>,
    given: Pick<TransactionRunOptions, 'deadlineAt' | 'onCommit' | 'lockTimeoutMs'>
  ): Promise<T> {
    try {
      const checkout = await checkOut(from, given.deadlineAt)
      return await runTransaction(checkout, work, { ...given, statementTimeoutMs, onStatement })
    } catch (error) {
      if (isSilent(error)) endSilentConnections()
      throw error
    }
  }

  const transaction: Database['transaction'] = (work, { deadlineAt } = {}) =>
    repeated(deadlineAt ?? deadlineIn(statementTimeoutMs), (until, hasWaited) =>
      runOn(hasWaited ? patient : transactions, work, { deadlineAt: until })
    )
  const patience = { lockTimeoutMs: Math.min(lockTimeoutMs, TOGETHER_LOCK_MS_MAX) }
  const groupCommit = createGroupCommit(transaction, (work, given) =>
    runOn(transactions, work, { ...given, ...patience })
  )

  /** Retries `work` while that may help. It holds no connection during the pauses. */
  async function repeated<T>(
    deadlineAt: number,
    work: (deadlineAt: number, hasWaited: boolean) => Promise<T>
  ): Promise<T> {
    let [hasWaited, wasOutdated] = [false, false]
    for (let run = 1; ; run += 1) {
      try {
        return await work(deadlineAt, hasWaited)
      } catch (error) {
        if (!canRetryTransaction(error)) throw error
        const pauseMs = RETRY_PAUSE_MS * 2 ** run * Math.random()
        if (run === TRANSACTION_RUNS_MAX || performance.now() + pauseMs > deadlineAt || wasOutdated)
          throw translateDatabaseError(error)
        hasWaited ||= isLockTimeout(error)
        wasOutdated = isPreparedStatementStale(error)
        if (wasOutdated) pools.renew()
        else await delay(pauseMs)
      }
    }
  }

  const queryable = createQueryable(send)
  const replica =
    pools.replica &&
    openReplica({
      pool: pools.replica,
      ...(options.replica as NonNullable<typeof options.replica>),
      findPosition: () => queryable.first(findCommittedPosition),
      statementTimeoutMs: replicaMs
    })
  const turns = createKeyedQueue()
  const inTurns = (keys: readonly string[], run: typeof groupCommit): Database => ({
    ...database,
    // The caller already holds this key, so it would wait for itself.
    serializedBy: key => inTurns(keys.includes(key) ? keys : [...keys, key], run),
    groupCommit: () => inTurns(keys, groupCommit),
    transaction: (work, { deadlineAt = deadlineIn(statementTimeoutMs) } = {}) => {
      const begin = () => run(work, { deadlineAt })
      return keys.reduceRight((next, key) => () => turns.take(key, deadlineAt, next), begin)()
    }
  })
  const database: Database = {
    ...queryable,
    transaction,
    isKeyBusy: turns.isTaken,
    batchCalls: work => createCallBatcher(work, waitMs),
    serializedBy: key => inTurns([key], transaction),
    groupCommit: () => inTurns([], groupCommit),
    dedicated: more => openDedicatedConnection({ ...options, ...more }, pools),
    prepare: () => shared.prepare(),
    isReadOnly: false,
    ping: probes.ping,
    proveWrite: probes.write,
    isOutOfConnections: pools.isOut,
    closeDeadConnections: endSilentConnections,
    statistics: pools.statistics,
    replicaStatistics: () => replica?.statistics(),
    close: () => {
      replica?.close()
      return pools.close()
    }
  }
  return options.isReadOnly ? readOnlyDatabase(database) : database
}

/** After a query timeout, other connections may be dead as well. */
const isSilent = (error: unknown) => isQueryTimeout(error) || isQueryTimeout((error as Error)?.cause)
const deadlineIn = (milliseconds: number) => performance.now() + milliseconds
