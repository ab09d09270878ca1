import type pg from 'pg'
import {
  databaseBusy,
  isLockTimeout,
  isOutdated,
  isRetryable,
  isUnusable,
  translateBeginError,
  translateDatabaseError
} from './errors.ts'
import { type Answer, JointQuery } from './joint-query.ts'
import { createMessage } from './message.ts'
import { type Queryable, queryableOf, type Send } from './queryable.ts'

declare const inTransaction: unique symbol
/** One open transaction. A function that asks for it can only be called inside `transaction`. */
export type Transaction = Queryable & {
  readonly [inTransaction]: true
  /**
   * Does `work` once this transaction is committed, before the caller goes on. A run that is rolled back, or repeated
   * after a serialization failure, forgets what it asked for. `work` must not throw.
   */
  afterCommit(work: () => void): void
  /** Does `work` directly before the commit, behind everything else: for rows that everybody wants to change. */
  last(work: (tx: Transaction) => Promise<void>): void
  /**
   * Sends what `work` sends together with the commit, behind everything else: no round trip of its own. `work` must send
   * all of it before it waits for an answer; its failure undoes everything.
   */
  withCommit(work: (tx: Transaction) => Promise<unknown>): void
}

type TransactionOptions = {
  /**
   * When nobody waits for it any more, on the monotonic clock in milliseconds: no statement, no wait and no repetition
   * goes on longer. As long as one statement may run, when left out; `Infinity` for work that has no end to keep.
   */
  deadlineAt?: number | undefined
}

/** Where transactions begin. `X`: what those know of themselves that begin there. */
export type Transactions<X extends Transaction = Transaction> = {
  /**
   * Runs `work` in a transaction. After a serialization failure or a deadlock, and when it waited too long for a lock,
   * it runs again, 5 times at most: `work` may do nothing that must not be done twice, but in the transaction.
   */
  transaction<T>(work: (tx: X) => Promise<T>, options?: TransactionOptions): Promise<T>
}

/** `share` makes the same transaction for one of many who take part in it: what each of them asks for keeps its order. */
export type Work<T> = (tx: Transaction, share: () => Transaction) => Promise<T>

/** A connection for one caller alone. */
export type Checkout = { client: pg.Client; giveBack(isBroken: boolean): void }
export type RunOptions = {
  /** On the monotonic clock in milliseconds: no statement runs longer, and none begins later. */
  deadlineAt: number
  /** How long the server lets a statement run on this connection anyway. */
  statementTimeoutMs: number
  /** How long the transaction waits for a lock, when that is not as long as the connection lets each. */
  lockTimeoutMs?: number | undefined
  onStatement?: ((name: string) => void) | undefined
  /** Called as the commit is sent, with its answer. Whoever does not get it does not know what became of the work. */
  onCommit?: ((answer: Promise<Pick<Answer, 'command'>>) => void) | undefined
}

/**
 * What the connections for transactions start with, so that only `begin` makes them writable: a statement that runs
 * before its `begin` has failed, or after its transaction has ended, changes nothing.
 */
export const outsideOfTransactions = { default_transaction_read_only: 'on' }

const ROLLBACK_MS_MAX = 200
const IDLE_WITHOUT_END_MS = 10_000
/** The server gives up first; so much later we stop waiting for its answer. */
const SERVER_HEAD_START_MS = 200
/** Setting a shorter time limit costs 10 us; it is left out when it would be shorter by less than this. */
const OVERTIME_MS = 1_000

/**
 * Runs `work` between `begin` and `commit` and gives the connection back. One that is broken, or does not answer a
 * rollback, is given up at once.
 * @throws what `work` throws, after a rollback; what `mayRunAgain` says yes to as it is; `unavailable`.
 */
export async function runTransaction<T>(
  { client, giveBack }: Checkout,
  work: Work<T>,
  { deadlineAt, statementTimeoutMs, lockTimeoutMs, onStatement = () => {}, onCommit }: RunOptions
): Promise<T> {
  let isOpen = true
  let isBroken = false
  let beginError: unknown

  const leftMs = () => Math.min(deadlineAt - performance.now(), statementTimeoutMs)
  /**
   * What is asked for in one turn of the event loop leaves in one message, at its end. `begin` and `commit` have names, too: to
   * parse them anew took 45 us of a transaction, program and database (2026-11).
   */
  let message = createMessage(onStatement)
  const nextMessage = () => {
    if (message.isEmpty()) process.nextTick(sendUnlessCommitting)
    return message
  }
  const send = () => {
    if (message.isEmpty()) return
    const statements = message.statements()
    message = createMessage(onStatement)
    client.query(new JointQuery(statements, Math.max(1, leftMs()) + SERVER_HEAD_START_MS))
  }
  const sendUnlessCommitting = () => {
    if (!isCommitting) send()
  }
  const answerOf = async (answer: Promise<Answer>): Promise<Answer> => {
    try {
      return await answer
    } catch (error) {
      if (isUnusable(error)) isBroken = true
      throw mayRunAgain(error) ? error : translateDatabaseError(error)
    }
  }
  const sendFor =
    (asker: object): Send =>
    async (statement, values) => {
      if (!isOpen) throw new Error(`${statement.name} came after its transaction had ended`)
      if (leftMs() <= 0) throw databaseBusy({ retryAfterSeconds: 1 })
      return answerOf(nextMessage().ask(asker, statement, values))
    }

  const committed: (() => void)[] = []
  const lasts: (() => Promise<void>)[] = []
  const withCommits: (() => Promise<unknown>)[] = []
  const share = (): Transaction => {
    const tx = {
      ...queryableOf(sendFor({})),
      afterCommit: (each: () => void) => committed.push(each),
      last: (each: (tx: Transaction) => Promise<void>) => lasts.push(() => each(tx)),
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
      beginError = mayRunAgain(error) ? error : translateBeginError(error)
      throw beginError
    }
  }
  let isCommitting = false
  const commit = async () => {
    isCommitting = true
    let sent: Promise<unknown> | undefined
    if (withCommits.length > 0) {
      const answers: Promise<unknown>[] = []
      // One may add another one while it is sent.
      for (const each of withCommits) answers.push(each())
      sent = Promise.all(answers)
      // What could not even be sent has failed by the next tick, and nothing is committed without it.
      await Promise.race([sent, new Promise<void>(resolve => process.nextTick(resolve))])
    }
    isOpen = false
    if (leftMs() <= 0) throw databaseBusy({ retryAfterSeconds: 1 })
    const committing = nextMessage().command('commit')
    onCommit?.(committing)
    send()
    const answer = answerOf(committing)
    answer.catch(() => {})
    // What a statement says of itself comes before what the commit says of it: that something failed.
    await sent
    const { command } = await answer
    if (command !== 'COMMIT') throw new Error('a statement failed and nobody noticed; nothing was committed')
  }

  let result: T
  try {
    // Not awaited: `begin` travels with the first statement.
    const begun = begin()
    begun.catch(() => {})
    result = await work(share(), share)
    for (const each of lasts) await each()
    await begun
    await commit()
  } catch (error) {
    isOpen = false
    // Before the rollback, and not behind it.
    send()
    if (!isBroken) await rollBack(client).catch(() => (isBroken = true))
    // Without its begin every statement fails, for a reason that says less.
    throw beginError ?? error
  } finally {
    giveBack(isBroken)
  }
  for (const each of committed) each()
  return result
}

/** Everything was undone, and the same again may succeed: soon, when a lock is free, or on a new connection. */
export const mayRunAgain = (error: unknown): boolean =>
  isRetryable(error) || isLockTimeout(error) || isOutdated(error)

const rollBack = (client: pg.Client) =>
  client.query({ text: 'rollback', query_timeout: ROLLBACK_MS_MAX } as pg.QueryConfig)

const LIMIT = 'select set_config($1, $2, true)'
/**
 * A time limit of this transaction's own, and only when less is left than the connection allows each statement anyway. What
 * has no end, such as an import, may read for a while between two statements.
 */
function limitOf(leftMs: number, statementTimeoutMs: number): [setting: string, value: string] | undefined {
  if (leftMs === Number.POSITIVE_INFINITY)
    return ['idle_in_transaction_session_timeout', String(IDLE_WITHOUT_END_MS)]
  if (leftMs > statementTimeoutMs - OVERTIME_MS) return undefined
  return ['statement_timeout', String(Math.max(1, Math.round(leftMs)))]
}
