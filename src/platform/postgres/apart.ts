import { type ConnectOptions, connectionSettings, sessionSettings } from './connect.ts'
import { isLockTimeout, isOutdated, isRefusal, isRetryable, translateDatabaseError } from './errors.ts'
import { ConnectionPool } from './pool.ts'
import type { Pools } from './pools.ts'
import { outsideOfTransactions, runTransaction, type Transaction } from './transaction.ts'

export type ApartOptions = {
  /** How long its statements wait for a lock; as long as all others when left out. */
  lockTimeoutMs?: number
  /** What PostgreSQL is to do otherwise on this connection. */
  settings?: Readonly<Record<string, string>>
}

/** One connection that nobody else uses and no statement counter sees, for work that must know how it ended. */
export type Apart = {
  /**
   * Runs `work` in a transaction, and says what became of it. `work` runs again when the server undid it for the sake of
   * others, or has forgotten its statements.
   */
  attempt<T>(work: (tx: Transaction) => Promise<T>, options: { deadlineAt: number }): Promise<Attempt<T>>
  close(): Promise<void>
}
type Attempt<T> =
  | { kind: 'done'; value: T }
  /** It waited too long for a lock, and is undone. */
  | { kind: 'locked' }
  /** The server said so, or its commit was not sent. */
  | { kind: 'undone'; error: unknown }
  /** Its commit was sent, and no answer came: it may be done, be undone, or still be under way. */
  | { kind: 'unknown'; error: unknown }

const RUNS_MAX = 3
const PATIENCE_MS = 200

type Options = ConnectOptions & ApartOptions & { poolWaitMs: number }

/** Opens one. The pool of its single connection is among the `dedicated` ones until it is closed. */
export function openApart(options: Options, { dedicated, group }: Pick<Pools, 'dedicated' | 'group'>): Apart {
  const { statementTimeoutMs, lockTimeoutMs, poolWaitMs: waitMs, settings } = options
  const more = { ...outsideOfTransactions, ...settings }
  const pool = new ConnectionPool(connectionSettings(options, more), {
    max: 1,
    waitMs,
    patienceMs: lockTimeoutMs + PATIENCE_MS,
    session: sessionSettings(options, more),
    group,
    // Others would not know how to undo its settings.
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
      const client = await pool.take(deadlineAt)
      const checkout = { client, giveBack: (isBroken: boolean) => pool.give(client, isBroken) }
      const onCommit = (answer: Promise<unknown>) => {
        isOpenQuestion = true
        answer.then(
          () => (isOpenQuestion = false),
          error => (isOpenQuestion = !isRefusal(error))
        )
      }
      const value = await runTransaction(checkout, work, { deadlineAt, statementTimeoutMs, onCommit })
      return { kind: 'done', value }
    } catch (error) {
      const cause = (error as Error)?.cause ?? error
      if (isOpenQuestion) return { kind: 'unknown', error: translateDatabaseError(error) }
      if (isLockTimeout(cause)) return { kind: 'locked' }
      if (isOutdated(cause)) pool.renew()
      if (mayRunAgain && (isOutdated(cause) || isRetryable(cause))) return 'again'
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
