import { setTimeout as delay } from 'node:timers/promises'
import { type Apart, type ApartOptions, openApart } from './apart.ts'
import { inBatches } from './batches.ts'
import { connectionSettings } from './connect.ts'
import { isLockTimeout, isOutdated, isSilence, isUnusable, translateDatabaseError } from './errors.ts'
import type { ConnectionPool } from './pool.ts'
import { type DatabaseOptions, limitsOf, openPools, type PoolStatistics } from './pools.ts'
import { type Queryable, queryableOf, type Send } from './queryable.ts'
import { createSilenceCheck } from './silence.ts'
import { createTogether } from './together.ts'
import {
  type Checkout,
  mayRunAgain,
  type RunOptions,
  runTransaction,
  type Transaction,
  type Transactions,
  type Work
} from './transaction.ts'
import { createTurns } from './turns.ts'

export type { DatabaseOptions, Queryable, Transaction, Transactions }

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
    /** Some kind of work has no connection, because the server accepts no more of them. */
    isOut(): boolean
    /** One real write that changes nothing, over another such. @throws `unavailable` that says why it is impossible. */
    proveWrite(): Promise<void>
    /** Somebody got no answer: finds the connections whose other side is gone without having closed them, and ends them. */
    endSilentConnections(): Promise<void>
    statistics(): PoolStatistics
    close(): Promise<void>
  }

type Sent = Parameters<Send>[0]

/** Who goes together waits no longer for a lock: all of them do, and for one lock after the other. */
const TOGETHER_LOCK_MS_MAX = 50
const TRANSACTION_RUNS_MAX = 6
const RETRY_PAUSE_MS = 10
/** A read that had to wait for a lock waits apart for so long. */
const LOCKED_MS = 1_000

/**
 * Single statements that read go over a few shared, pipelined connections (they cost half of a checked-out one).
 * What may wait has connections of its own: transactions, those of them that wait for a lock, single statements that
 * write, and slow ones.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { onStatement, poolWaitMs: waitMs, statementTimeoutMs, lockTimeoutMs } = options
  const { sharedMs, slowMs } = limitsOf(options)
  const pools = openPools(options, () => endSilentConnections())
  const { transactions, patient, writes, slow, shared, probes, acquired } = pools
  /** Reads that had to wait for a lock, a table that is being altered, and until when they wait apart. */
  const locked = new Map<string, number>()
  const endSilentConnections = createSilenceCheck(connectionSettings(options), pools.suspects)

  const send: Send = (statement, values) => {
    onStatement?.(statement.name)
    if (statement.mayLock) return sendAlone(writes, statement, values, statementTimeoutMs)
    if (statement.isSlow) return sendAlone(slow, statement, values, slowMs)
    if (locked.size > 0 && isLocked(statement)) return sendAlone(writes, statement, values, sharedMs)
    acquired.count += 1
    if (shared.total === 0) acquired.empty += 1
    return shared.query(statement, values).catch(error => readAgain(error, statement, values))
  }

  /** A read is sent once more, over another connection, when it was not its fault. */
  async function readAgain(error: unknown, statement: Sent, values: unknown[]): ReturnType<Send> {
    if (isLockTimeout(error)) locked.set(statement.name, performance.now() + LOCKED_MS)
    if (isLocked(statement)) return sendAlone(writes, statement, values, sharedMs)
    if (isOutdated(error)) pools.renew()
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
      runOn(hasWaited ? patient : transactions, work, { deadlineAt: until })
    )
  const patience = { lockTimeoutMs: Math.min(lockTimeoutMs, TOGETHER_LOCK_MS_MAX) }
  const together = createTogether(transaction, (work, given) =>
    runOn(transactions, work, { ...given, ...patience })
  )

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
        if (wasOutdated) pools.renew()
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
    apart: more => openApart({ ...options, ...more }, pools),
    prepare: () => shared.prepare(),
    ping: probes.ping,
    proveWrite: probes.write,
    isOut: pools.isOut,
    endSilentConnections,
    statistics: pools.statistics,
    close: pools.close
  }
  return database
}

/** Where one connection was lost without being closed, others may have been, too. */
const isSilent = (error: unknown) => isSilence(error) || isSilence((error as Error)?.cause)
const deadlineIn = (milliseconds: number) => performance.now() + milliseconds
