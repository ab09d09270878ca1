import { type DatabaseConnectOptions, initialSessionSettings, pgClientConfig } from '../connect.ts'
import { ConnectionPool } from '../connections/pool.ts'
import {
  isLockTimeout,
  isPreparedStatementStale,
  isSerializationConflictOrDeadlock,
  isStatementRejectedByServer,
  translateDatabaseError
} from '../errors.ts'
import type { ConnectionPools } from '../pools.ts'
import { readOnlyUntilBeginSettings, runTransaction, type Transaction } from './transaction.ts'

export type DedicatedConnectionOptions = {
  /** Lock timeout of statements on this connection; that of the configuration when left out. */
  lockTimeoutMs?: number
  /** Statement timeout on this connection; that of the configuration when left out. */
  statementTimeoutMs?: number
  /** Settings of PostgreSQL for this connection. */
  settings?: Readonly<Record<string, string>>
}

/** A connection of one caller, outside statement counting, for work that must know the outcome of its transaction. */
export type DedicatedConnection = {
  /**
   * Runs `work` in a transaction and returns its outcome. Retries `work` after a serialization failure, a deadlock or a lost
   * prepared statement.
   */
  attempt<T>(work: (tx: Transaction) => Promise<T>, options: { deadlineAt: number }): Promise<Attempt<T>>
  close(): Promise<void>
}
type Attempt<T> =
  | { kind: 'done'; value: T }
  /** Rolled back after a lock timeout. */
  | { kind: 'locked' }
  /** Rolled back: the server said so, or COMMIT was not sent. */
  | { kind: 'undone'; error: unknown }
  /** COMMIT was sent and no response came: it may be committed, rolled back or still running. */
  | { kind: 'unknown'; error: unknown }

const RUNS_MAX = 3
const PATIENCE_MS = 200

type Options = DatabaseConnectOptions & DedicatedConnectionOptions & { poolWaitMs: number }

/** Opens a pool of one connection, which counts among the `dedicated` pools until it is closed. */
export function openDedicatedConnection(
  options: Options,
  { dedicated, group }: Pick<ConnectionPools, 'dedicated' | 'group'>
): DedicatedConnection {
  const { statementTimeoutMs, lockTimeoutMs, poolWaitMs: waitMs, settings } = options
  const more = { ...readOnlyUntilBeginSettings, ...settings }
  const pool = new ConnectionPool(pgClientConfig(options, more), {
    max: 1,
    waitMs,
    patienceMs: lockTimeoutMs + PATIENCE_MS,
    session: initialSessionSettings(options, more),
    group,
    // No other pool may borrow this connection, because it could not reset the settings.
    canLend: false
  })
  dedicated.add(pool)

  async function once<T>(
    work: (tx: Transaction) => Promise<T>,
    deadlineAt: number,
    mayRunAgain: boolean
  ): Promise<Attempt<T> | 'again'> {
    let isOpenQuestion = false
    try {
      const client = await pool.acquire(deadlineAt)
      const checkout = { client, release: (isBroken: boolean) => pool.release(client, isBroken) }
      const onCommit = (answer: Promise<unknown>) => {
        isOpenQuestion = true
        answer.then(
          () => (isOpenQuestion = false),
          error => (isOpenQuestion = !isStatementRejectedByServer(error))
        )
      }
      const value = await runTransaction(checkout, work, { deadlineAt, statementTimeoutMs, onCommit })
      return { kind: 'done', value }
    } catch (error) {
      const cause = (error as Error)?.cause ?? error
      if (isOpenQuestion) return { kind: 'unknown', error: translateDatabaseError(error) }
      if (isLockTimeout(cause)) return { kind: 'locked' }
      if (isPreparedStatementStale(cause)) pool.replaceConnections()
      if (mayRunAgain && (isPreparedStatementStale(cause) || isSerializationConflictOrDeadlock(cause)))
        return 'again'
      return { kind: 'undone', error: translateDatabaseError(error) }
    }
  }

  return {
    attempt: async (work, { deadlineAt }) => {
      for (let run = 1; ; run += 1) {
        const attempt = await once(work, deadlineAt, run < RUNS_MAX)
        if (attempt !== 'again') return attempt
      }
    },
    close: async () => {
      dedicated.delete(pool)
      await pool.close()
    }
  }
}
