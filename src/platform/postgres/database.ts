import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { type Apart, type ApartOptions, openApart } from './apart.ts'
import { inBatches } from './batches.ts'
import {
  type ConnectOptions,
  connectionSettings,
  plannedForKeys,
  plannedForMemory,
  plannedForValues
} from './connect.ts'
import { isLockTimeout, isOutdated, isSilence, isUnusable, translateDatabaseError } from './errors.ts'
import { ConnectionPool, type PoolStatistics } from './pool.ts'
import { createProbes } from './probes.ts'
import { type Queryable, queryableOf, type Send } from './queryable.ts'
import { SharedConnections } from './shared.ts'
import { createSilenceCheck } from './silence.ts'
import { createTogether } from './together.ts'
import {
  type Checkout,
  mayRunAgain,
  outsideOfTransactions,
  type RunOptions,
  runTransaction,
  type Transaction,
  type Transactions,
  type Work
} from './transaction.ts'
import { createTurns } from './turns.ts'

export type { Queryable, Transaction, Transactions }

/** The database: its statements run one by one, or together in a transaction. */
export type Database = Queryable &
  Transactions & {
    /**
     * The same database for those who would wait for each other: of the transactions with the same key one at a time of
     * this process holds a connection. For rows that one customer's requests all lock. Of several keys the turns are waited
     * for in their order, which has to be the same for all who take them.
     */
    inTurn(key: string): Database
    /**
     * The same database for those whose transactions touch rows of their own alone: those that begin in one turn of the event loop are
     * one, so that an order takes 1.6 ms of CPU instead of 2.3 (2026-11). When one of them fails all are undone: it is done again
     * alone, and the others together.
     */
    together(): Database
    /**
     * Does `work`, which must be one statement that waits for nobody, for many callers together: for those who come while
     * others are at it, in their order. `work` answers for each item at its index. What is refused for many is done again
     * for each alone, so that nobody fails by another one's fault.
     */
    inBatches<I, O>(work: (items: readonly I[]) => Promise<readonly O[]>): (item: I) => Promise<O>
    /** Whether a transaction with that key is under way, or waits for its turn. */
    isTurnTaken(key: string): boolean
    /** A connection for one caller alone, which has to close it. */
    apart(options?: ApartOptions): Apart
    /** Makes the connections of reads before anybody asks, and waits for none of them. */
    prepare(): void
    /** One real round trip, over a connection that nothing else uses. */
    ping(): Promise<void>
    /** One real write that changes nothing, over another such. @throws `unavailable` that says why it is impossible. */
    proveWrite(): Promise<void>
    /** Somebody got no answer: finds the connections whose other side is gone without having closed them, and ends them. */
    endSilentConnections(): Promise<void>
    statistics(): PoolStatistics
    close(): Promise<void>
  }

export type DatabaseOptions = ConnectOptions & {
  /** Connections for transactions. */
  poolSize: number
  /** Pipelined connections that single statements share, when they only read. */
  sharedConnections: number
  /** Connections for single statements that write or lock, one at a time on each. */
  writeConnections: number
  /** Connections for slow statements, one at a time on each. */
  slowConnections: number
  /** How long anybody may wait for a connection. */
  poolWaitMs: number
  /** Called with the name of every statement before it is sent. For tests that count them. */
  onStatement?: ((name: string) => void) | undefined
}
type Sent = Parameters<Send>[0]

const SHARED_STATEMENT_MS_MAX = 1_000
const SHARED_LOCK_MS_MAX = 50
/** Who goes together waits no longer for a lock: all of them do, and for one lock after the other. */
const TOGETHER_LOCK_MS_MAX = 50
/** What takes longer is a search that nobody waits for. */
const SLOW_STATEMENT_MS_MAX = 2_000
/** On top of what the server allows: then the connection is dead. */
const SILENCE_MS = 200
const TRANSACTION_RUNS_MAX = 6
const RETRY_PAUSE_MS = 10
/** Who waited in vain for a lock waits so much longer the next time, on a pool that is so much smaller. */
const PATIENCE = 4
/** A read that had to wait for a lock waits apart for so long. */
const LOCKED_MS = 1_000

/**
 * Single statements that read go over a few shared, pipelined connections (they cost half of a checked-out one).
 * What may wait has connections of its own: transactions, those of them that wait for a lock, single statements that
 * write, and slow ones.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { onStatement, poolWaitMs: waitMs, statementTimeoutMs, lockTimeoutMs } = options
  const sharedMs = Math.min(statementTimeoutMs, SHARED_STATEMENT_MS_MAX)
  const slowMs = Math.min(statementTimeoutMs, SLOW_STATEMENT_MS_MAX)
  const settings = connectionSettings(options)
  const patienceMs = lockTimeoutMs + SILENCE_MS
  const poolOf = (max: number, itsSettings: pg.ClientConfig) =>
    new ConnectionPool(itsSettings, { max, waitMs, patienceMs })
  const forTransactions = { ...outsideOfTransactions, ...plannedForKeys }
  const pool = poolOf(options.poolSize, connectionSettings(options, forTransactions))
  const patientPool = new ConnectionPool(
    connectionSettings({ ...options, lockTimeoutMs: lockTimeoutMs * PATIENCE }, forTransactions),
    { max: Math.ceil(options.poolSize / PATIENCE), waitMs: statementTimeoutMs }
  )
  const writePool = poolOf(options.writeConnections, connectionSettings(options, plannedForKeys))
  const slowPool = new ConnectionPool(
    connectionSettings({ ...options, statementTimeoutMs: slowMs }, plannedForValues),
    { max: options.slowConnections, waitMs }
  )
  const probes = createProbes(settings)
  const quick = { statementTimeoutMs: sharedMs, lockTimeoutMs: Math.min(lockTimeoutMs, SHARED_LOCK_MS_MAX) }
  const shared = new SharedConnections(connectionSettings({ ...options, ...quick }, plannedForMemory), {
    count: options.sharedConnections,
    waitMs,
    silenceMsMax: sharedMs + SILENCE_MS,
    onSilence: () => endSilentConnections()
  })
  const pools = [pool, patientPool, writePool, slowPool]
  const apart = new Set<ConnectionPool>()
  const acquired = { count: 0, empty: 0, durationMs: 0 }
  /** Reads that had to wait for a lock, a table that is being altered, and until when they wait apart. */
  const locked = new Map<string, number>()

  const endSilentConnections = createSilenceCheck(settings, () =>
    [...pools, ...apart, ...probes.pools, shared].flatMap(each => each.suspects)
  )
  const renew = () => {
    for (const each of [...pools, ...apart, shared]) each.renew()
  }

  const send: Send = (statement, values) => {
    onStatement?.(statement.name)
    if (statement.mayLock) return sendAlone(writePool, statement, values, statementTimeoutMs)
    if (statement.isSlow) return sendAlone(slowPool, statement, values, slowMs)
    if (locked.size > 0 && isLocked(statement)) return sendAlone(writePool, statement, values, sharedMs)
    acquired.count += 1
    if (shared.open === 0) acquired.empty += 1
    return shared.query(statement, values).catch(error => readAgain(error, statement, values))
  }

  /** A read is sent once more, over another connection, when it was not its fault. */
  async function readAgain(error: unknown, statement: Sent, values: unknown[]): ReturnType<Send> {
    if (isLockTimeout(error)) locked.set(statement.name, performance.now() + LOCKED_MS)
    if (isLocked(statement)) return sendAlone(writePool, statement, values, sharedMs)
    if (isOutdated(error)) renew()
    else if (!isUnusable(error)) throw translateDatabaseError(error)
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

  /** A connection of the pool; `giveBack` must be called. */
  async function checkOut(from: ConnectionPool, deadlineAt?: number): Promise<Checkout> {
    const startedAt = performance.now()
    acquired.count += 1
    if (from.total === from.busy) acquired.empty += 1
    try {
      const client = await from.take(deadlineAt)
      return { client, giveBack: isBroken => from.give(client, isBroken) }
    } finally {
      acquired.durationMs += performance.now() - startedAt
    }
  }

  /** Runs a single statement on a connection of its own. */
  async function sendAlone(
    from: ConnectionPool,
    { name, text }: Sent,
    values: unknown[],
    timeoutMs: number
  ): ReturnType<Send> {
    return repeated(deadlineIn(timeoutMs), async deadlineAt => {
      const { client, giveBack } = await checkOut(from, deadlineAt)
      let isBroken = false
      try {
        return await client.query({ name, text, values })
      } catch (error) {
        isBroken = isUnusable(error)
        if (isSilent(error)) endSilentConnections()
        throw mayRunAgain(error) ? error : translateDatabaseError(error)
      } finally {
        giveBack(isBroken)
      }
    })
  }

  async function runOn<T>(
    from: ConnectionPool,
    work: Work<T>,
    given: Pick<RunOptions, 'deadlineAt' | 'onCommit' | 'lockTimeoutMs'>
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
      runOn(hasWaited ? patientPool : pool, work, { deadlineAt: until })
    )
  const patience = { lockTimeoutMs: Math.min(lockTimeoutMs, TOGETHER_LOCK_MS_MAX) }
  const together = createTogether(transaction, (work, given) => runOn(pool, work, { ...given, ...patience }))

  /** Does `work` again while that may help. Meanwhile it has no connection that others may need. */
  async function repeated<T>(
    deadlineAt: number,
    work: (deadlineAt: number, hasWaited: boolean) => Promise<T>
  ): Promise<T> {
    let [hasWaited, wasOutdated] = [false, false]
    for (let run = 1; ; run += 1) {
      try {
        return await work(deadlineAt, hasWaited)
      } catch (error) {
        if (!mayRunAgain(error)) throw error
        const pauseMs = RETRY_PAUSE_MS * 2 ** run * Math.random()
        if (run === TRANSACTION_RUNS_MAX || performance.now() + pauseMs > deadlineAt || wasOutdated)
          throw translateDatabaseError(error)
        hasWaited ||= isLockTimeout(error)
        wasOutdated = isOutdated(error)
        if (wasOutdated) renew()
        else await delay(pauseMs)
      }
    }
  }

  const turns = createTurns()
  const inTurns = (keys: readonly string[], run: typeof together): Database => ({
    ...database,
    // Whose turn it is already would wait for itself.
    inTurn: key => inTurns(keys.includes(key) ? keys : [...keys, key], run),
    together: () => inTurns(keys, together),
    transaction: (work, { deadlineAt = deadlineIn(statementTimeoutMs) } = {}) => {
      const begin = () => run(work, { deadlineAt })
      return keys.reduceRight((next, key) => () => turns.take(key, deadlineAt, next), begin)()
    }
  })
  const database: Database = {
    ...queryableOf(send),
    transaction,
    isTurnTaken: turns.isTaken,
    inBatches: work => inBatches(work, waitMs),
    inTurn: key => inTurns([key], transaction),
    together: () => inTurns([], together),
    apart: more => openApart({ ...options, ...more }, apart),
    prepare: () => shared.prepare(),
    ping: probes.ping,
    proveWrite: probes.write,
    endSilentConnections,
    statistics: () => {
      const taken = sumOf(pools, each => each.busy) + shared.busy
      const total = sumOf(pools, each => each.total) + shared.open
      return {
        max_conns: sumOf(pools, each => each.max) + shared.count,
        total_conns: total,
        acquired_conns: taken,
        idle_conns: total - taken,
        acquire_count: acquired.count,
        empty_acquire_count: acquired.empty,
        acquire_duration_ms: acquired.durationMs + shared.waitedMs
      }
    },
    close: async () => {
      await Promise.all([...pools, ...apart, ...probes.pools, shared].map(each => each.close()))
    }
  }
  return database
}

/** Where one connection was lost without being closed, others may have been, too. */
const isSilent = (error: unknown) => isSilence(error) || isSilence((error as Error)?.cause)
const deadlineIn = (milliseconds: number) => performance.now() + milliseconds
const sumOf = <T>(all: readonly T[], figure: (each: T) => number): number =>
  all.reduce((sum, each) => sum + figure(each), 0)
