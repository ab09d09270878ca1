import { defineError, type ErrorDefinition } from '../../kernel/errors.ts'
import { derivedId, newId } from '../../kernel/ids.ts'
import type { Transaction, Transactions } from '../postgres/database.ts'

/** Does `work` that waits for something other than this thread and the database, and lets other requests in meanwhile. */
export type WithoutSlot = <T>(work: () => Promise<T>) => Promise<T>

/** What a request asks of a write, beside what it writes. */
export type Write = {
  /** The id of what this request makes: the same in each of its tries. */
  readonly id: string
  /** The id that `result` noted, in this try or in the earlier one that was committed; else `id`. */
  readonly resultId: string
  /** Ids of whatever else the request makes, or of its steps outside of one transaction. */
  idOf(label: string): string
  /**
   * Does `work` in a transaction that also notes that this request was done; `undefined` when an earlier try did it.
   * What follows it runs in every try, so it must be repeatable. Once a request: what must come apart is `idOf`'s.
   * @throws `IF_MATCH_NOT_SUPPORTED` when the caller sent If-Match and `work` compared it with nothing; nothing is
   * committed then. @throws `IDEMPOTENCY_KEY_IN_PROGRESS` when a later try of this request has taken over.
   */
  once<T, X extends Transaction>(db: Transactions<X>, work: (tx: X) => Promise<T>): Promise<T | undefined>
  /**
   * The same for one statement that changes nothing, and answers nothing, when what it rests on has changed since; then
   * `undefined`, and `once` may follow. For what was compared and decided before, without holding anything. `send` gets the
   * transaction that also makes the note; none when there is no note to make, and the statement commits by itself.
   */
  onceIfUnchanged<T>(
    db: Transactions,
    send: (tx: Transaction | undefined) => Promise<T | undefined>
  ): Promise<T | undefined>
  /** Notes inside `work` what was made *or found*, for the tries to come. */
  result(id: string): void
  /**
   * Answers this request with what another request made, instead of `once` or after it failed: notes the id under the key in
   * a transaction of its own, so that every later try answers the same. Compares no version.
   * @throws `IDEMPOTENCY_KEY_IN_PROGRESS` when a later try of this request has taken over.
   */
  answerWith(db: Transactions, id: string): Promise<void>
  /** Compares the version with If-Match (RFC 9110, section 13.1.1). @throws `stale` when it is another one. */
  expect(version: number, stale: ErrorDefinition): void
  /** An earlier try did it: for conditions in front of a write, which its own success may have ended. */
  readonly alreadyApplied: boolean
  readonly withoutSlot: WithoutSlot
}

/** What the gateway knows of the request behind a write. */
export type Operation = {
  id: string
  /** An earlier try was committed; `resultId` is what it noted. */
  isApplied: boolean
  resultId: string | null
  /** The version that the caller believes to be the present one; `null` when any will do. */
  expectedVersion: number | null
  /** When nobody waits for it any more, on the monotonic clock. */
  deadlineAt?: number | undefined
  /** Absent: no request asked for it, and no slot is held. */
  withoutSlot?: WithoutSlot
  /** Notes in the transaction that the request was done; none where nobody would read it. */
  mark?: Mark | undefined
}
type Mark = (tx: Transaction, resultId: string | null) => Promise<void>

export const idempotencyKeyInProgress = defineError(
  'conflict',
  'IDEMPOTENCY_KEY_IN_PROGRESS',
  'The first request with this Idempotency-Key is still running; try again shortly.'
)
export const conditionNotSupported = defineError(
  'stale',
  'IF_MATCH_NOT_SUPPORTED',
  'This has no version that If-Match could be compared with; leave the header out.'
)

export function createWrite(operation: Operation): Write {
  const { id, isApplied, expectedVersion } = operation
  let resultId = operation.resultId
  let isCompared = expectedVersion === null
  let isBegun = false

  /** Both in one round trip, and the commit when the answers are there: without a change there is no note either. */
  async function sendAndMark<T>(
    db: Transactions,
    send: (tx: Transaction) => Promise<T | undefined>,
    mark: Mark
  ): Promise<T | undefined> {
    const changed = new Error('what it rests on has changed')
    const work = async (tx: Transaction) => {
      const [made] = await Promise.all([send(tx), mark(tx, null)])
      if (made === undefined) throw changed
      return made
    }
    return db.transaction(work, { deadlineAt: operation.deadlineAt }).catch(error => {
      if (error !== changed) throw error
      return undefined
    })
  }

  return {
    id,
    get resultId() {
      return resultId ?? id
    },
    idOf: label => derivedId(id, label),
    once: async (db, work) => {
      if (isBegun)
        throw new Error('a request notes once that it was done: its other transactions take ids of idOf')
      isBegun = true
      if (isApplied) return undefined
      return db.transaction(
        async tx => {
          resultId = null
          isCompared = expectedVersion === null
          const made = await work(tx)
          if (!isCompared) throw conditionNotSupported()
          await operation.mark?.(tx, resultId)
          return made
        },
        { deadlineAt: operation.deadlineAt }
      )
    },
    onceIfUnchanged: async (db, send) => {
      if (isBegun || isApplied) return undefined
      if (!isCompared) throw conditionNotSupported()
      const { mark } = operation
      const made = await (mark === undefined ? send(undefined) : sendAndMark(db, send, mark))
      isBegun = made !== undefined
      return made
    },
    result: noted => {
      resultId = noted
    },
    answerWith: async (db, found) => {
      if (isApplied) throw new Error('an earlier try has noted its result')
      const { mark, deadlineAt } = operation
      resultId = found
      if (mark !== undefined) await db.transaction(tx => mark(tx, found), { deadlineAt })
    },
    expect: (version, stale) => {
      isCompared = true
      if (expectedVersion !== null && expectedVersion !== version) throw stale({ details: { version } })
    },
    alreadyApplied: isApplied,
    withoutSlot: operation.withoutSlot ?? (work => work())
  }
}

/** A write that no request asked for: without conditions and without a key. */
export const newWrite = (): Write =>
  createWrite({
    id: newId(),
    isApplied: false,
    resultId: null,
    expectedVersion: null
  })
