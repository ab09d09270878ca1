import type pg from 'pg'
import {
  databaseBusyError,
  isConnectionUnusable,
  isLockTimeout,
  isPreparedStatementStale,
  isSerializationConflictOrDeadlock,
  translateBeginError,
  translateDatabaseError
} from '../errors.ts'
import { createQueryable, type Queryable, type SendStatement } from '../queryable.ts'
import { StatementBatchQuery, type StatementResult } from '../wire/batch-query.ts'
import { createStatementBatch } from './statement-batch.ts'

declare const inTransaction: unique symbol
/**
 * An open transaction. A function that takes one can only be called inside `transaction`.
 * @example
 * const logWhenCommitted = (tx: Transaction, log: string[]) => tx.afterCommit(() => log.push('committed'))
 */
export type Transaction = Queryable & {
  readonly [inTransaction]: true
  /**
   * Runs `work` after the commit, before `transaction` returns. A rolled back attempt discards its `work`. `work` must not
   * throw.
   */
  afterCommit(work: () => void): void
  /** Runs `work` directly before COMMIT, after all other statements: for locks that many transactions contend for. */
  beforeCommit(work: (tx: Transaction) => Promise<void>): void
  /**
   * Sends the statements of `work` in one batch with COMMIT, which saves a round trip. `work` must send all of them before
   * it awaits a result. When one fails, the transaction is rolled back.
   */
  withCommit(work: (tx: Transaction) => Promise<unknown>): void
}

type TransactionOptions = {
  /**
   * Deadline on the monotonic clock, in milliseconds, of all statements, waits and retries. The statement timeout from now
   * when left out; `Infinity` for work without a deadline, such as an import.
   */
  deadlineAt?: number | undefined
}

/** Begins transactions. `X` is what their `work` receives. */
export type TransactionRunner<X extends Transaction = Transaction> = {
  /**
   * Runs `work` in a transaction and commits. Retries up to 5 times after a serialization failure, a deadlock or a lock
   * timeout, so effects outside the transaction must be repeatable.
   */
  transaction<T>(work: (tx: X) => Promise<T>, options?: TransactionOptions): Promise<T>
}

/** `share` returns the same transaction for one of several participants; each participant's statements keep their order. */
export type TransactionWork<T> = (tx: Transaction, share: () => Transaction) => Promise<T>

/** A pooled connection that one caller holds. */
export type CheckedOutConnection = { client: pg.Client; release(isBroken: boolean): void }
export type TransactionRunOptions = {
  /** On the monotonic clock, in milliseconds: no statement runs longer or begins later. */
  deadlineAt: number
  /** Statement timeout of the connection. */
  statementTimeoutMs: number
  /** Lock timeout of this transaction, when it differs from that of the connection. */
  lockTimeoutMs?: number | undefined
  onStatement?: ((name: string) => void) | undefined
  /** Called when COMMIT is sent, with its pending result. If that rejects, the outcome may be unknown. */
  onCommit?: ((answer: Promise<Pick<StatementResult, 'command'>>) => void) | undefined
}

/**
 * Session settings of connections for transactions: only BEGIN makes them writable. So a statement that runs after a failed
 * BEGIN, or after its transaction ended, changes nothing.
 */
export const readOnlyUntilBeginSettings = { default_transaction_read_only: 'on' }

const ROLLBACK_MS_MAX = 200
const IDLE_WITHOUT_END_MS = 10_000
/**
 * The client's query timeout exceeds the server's statement timeout by this, so it ends a statement only when the server
 * does not respond.
 */
const SERVER_HEAD_START_MS = 200
/** Setting a shorter timeout costs 10 us, so it is skipped when it would save less than this. */
const OVERTIME_MS = 1_000

/**
 * Runs `work` between BEGIN and COMMIT and releases the connection. A connection that is broken, or does not answer ROLLBACK,
 * is destroyed.
 * @throws what `work` throws, after a rollback; retryable errors untranslated; `unavailable`.
 */
export async function runTransaction<T>(
  { client, release: giveBack }: CheckedOutConnection,
  work: TransactionWork<T>,
  { deadlineAt, statementTimeoutMs, lockTimeoutMs, onStatement = () => {}, onCommit }: TransactionRunOptions
): Promise<T> {
  let isOpen = true
  let isBroken = false
  let beginError: unknown

  const leftMs = () => Math.min(deadlineAt - performance.now(), statementTimeoutMs)
  /**
   * Statements of one turn of the event loop are sent as one batch at its end. BEGIN and COMMIT are prepared statements too,
   * because parsing them each time took 45 us of a transaction, process and server together (2026-11).
   */
  let message = createStatementBatch(onStatement)
  const nextMessage = () => {
    if (message.isEmpty()) process.nextTick(sendUnlessCommitting)
    return message
  }
  const send = () => {
    if (message.isEmpty()) return
    const statements = message.statements()
    message = createStatementBatch(onStatement)
    client.query(new StatementBatchQuery(statements, Math.max(1, leftMs()) + SERVER_HEAD_START_MS))
  }
  const sendUnlessCommitting = () => {
    if (!isCommitting) send()
  }
  const answerOf = async (answer: Promise<StatementResult>): Promise<StatementResult> => {
    try {
      return await answer
    } catch (error) {
      if (isConnectionUnusable(error)) isBroken = true
      throw canRetryTransaction(error) ? error : translateDatabaseError(error)
    }
  }
  const sendFor =
    (asker: object): SendStatement =>
    async (statement, values) => {
      if (!isOpen) throw new Error(`${statement.name} came after its transaction had ended`)
      if (leftMs() <= 0) throw databaseBusyError({ retryAfterSeconds: 1 })
      return answerOf(nextMessage().ask(asker, statement, values))
    }

  const afterCommits: (() => void)[] = []
  const beforeCommits: (() => Promise<void>)[] = []
  const withCommits: (() => Promise<unknown>)[] = []
  const share = (): Transaction => {
    const tx = {
      ...createQueryable(sendFor({})),
      afterCommit: (each: () => void) => afterCommits.push(each),
      beforeCommit: (each: (tx: Transaction) => Promise<void>) => beforeCommits.push(() => each(tx)),
      withCommit: (each: (tx: Transaction) => Promise<unknown>) => withCommits.push(() => each(tx))
    } as unknown as Transaction
    return tx
  }

  const begin = async (): Promise<void> => {
    const limits = [
      limitOf(deadlineAt - performance.now(), statementTimeoutMs),
      lockTimeoutMs === undefined ? undefined : ['lock_timeout', String(lockTimeoutMs)]
    ]
    try {
      await Promise.all([
        nextMessage().command('begin read write', 'begin'),
        ...limits.map(limit => limit && nextMessage().command(LIMIT, 'limit', limit))
      ])
    } catch (error) {
      isBroken = true
      beginError = canRetryTransaction(error) ? error : translateBeginError(error)
      throw beginError
    }
  }
  let isCommitting = false
  const commit = async () => {
    isCommitting = true
    let sent: Promise<unknown> | undefined
    if (withCommits.length > 0) {
      const answers: Promise<unknown>[] = []
      // The work of `withCommit` may call `withCommit` again.
      for (const each of withCommits) answers.push(each())
      sent = Promise.all(answers)
      // A statement that could not be sent has failed by the next tick; then nothing is committed.
      await Promise.race([sent, new Promise<void>(resolve => process.nextTick(resolve))])
    }
    isOpen = false
    if (leftMs() <= 0) throw databaseBusyError({ retryAfterSeconds: 1 })
    const committing = nextMessage().command('commit')
    onCommit?.(committing)
    send()
    const answer = answerOf(committing)
    answer.catch(() => {})
    // The error of a statement is more specific than that of COMMIT, so it is awaited first.
    await sent
    const { command } = await answer
    if (command !== 'COMMIT')
      throw new Error('a statement failed and its error was not handled; nothing was committed')
  }

  let result: T
  try {
    // BEGIN is not awaited, because it is sent in one batch with the first statement.
    const begun = begin()
    begun.catch(() => {})
    result = await work(share(), share)
    for (const each of beforeCommits) await each()
    await begun
    await commit()
  } catch (error) {
    isOpen = false
    // Statements that are not sent yet must reach the server before ROLLBACK, not after it.
    send()
    if (!isBroken) await rollBack(client).catch(() => (isBroken = true))
    // After a failed BEGIN every statement fails with a less specific error, so the error of BEGIN is thrown.
    throw beginError ?? error
  } finally {
    giveBack(isBroken)
  }
  for (const each of afterCommits) each()
  return result
}

/** Whether the transaction was rolled back and a retry may succeed: soon, when a lock is free, or on a new connection. */
export const canRetryTransaction = (error: unknown): boolean =>
  isSerializationConflictOrDeadlock(error) || isLockTimeout(error) || isPreparedStatementStale(error)

const rollBack = (client: pg.Client) =>
  client.query({ text: 'rollback', query_timeout: ROLLBACK_MS_MAX } as pg.QueryConfig)

const LIMIT = 'select set_config($1, $2, true)'
/**
 * Returns the setting that bounds this transaction: a statement timeout when less time is left than the connection allows.
 * Work without a deadline, such as an import, gets a longer idle timeout, because it reads files between statements.
 */
function limitOf(leftMs: number, statementTimeoutMs: number): [setting: string, value: string] | undefined {
  if (leftMs === Number.POSITIVE_INFINITY)
    return ['idle_in_transaction_session_timeout', String(IDLE_WITHOUT_END_MS)]
  if (leftMs > statementTimeoutMs - OVERTIME_MS) return undefined
  return ['statement_timeout', String(Math.max(1, Math.round(leftMs)))]
}
