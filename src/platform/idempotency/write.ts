import { defineError, type ErrorDefinition } from '../../kernel/errors.ts'
import { derivedId, newId } from '../../kernel/ids.ts'
import type { Transaction, TransactionRunner } from '../postgres/database.ts'

/** Runs `work` that waits for something other than this thread and the database, and lends the request's slot meanwhile. */
export type RunWithoutRequestSlot = <T>(work: () => Promise<T>) => Promise<T>

/** The request that waits for a provider. */
export type WaitingRequest = {
  readonly withoutSlot: RunWithoutRequestSlot
  /** The network of the client, whose requests to providers are limited. Null: a job or an administrator, without a limit. */
  readonly clientNetwork: string | null
}

/**
 * The write of a request: its idempotency key, its precondition and its deadline.
 * @example
 * const addWish = (write: IdempotentWrite, insert: (tx: Transaction, id: string) => Promise<void>) =>
 *   write.once(db, tx => insert(tx, write.id))
 */
export type IdempotentWrite = {
  /** The id of what this request creates, the same in each attempt. */
  readonly id: string
  /** The id that `result` recorded in this attempt or an earlier committed one; otherwise `id`. */
  resultId(): string
  /** Derives ids of other things that the request creates, or of its steps in other transactions. */
  idOf(label: string): string
  /**
   * Runs `work` in a transaction that also records that this request is done; returns `undefined` when an earlier attempt
   * did it. Code after it runs in every attempt, so it must be repeatable. Call it once per request.
   * @throws `IF_MATCH_NOT_SUPPORTED` when the caller sent If-Match and `work` did not compare it; nothing is committed
   * then. @throws `IDEMPOTENCY_KEY_IN_PROGRESS` when a later attempt of this request took over.
   */
  once<T, X extends Transaction>(
    db: TransactionRunner<X>,
    work: (tx: X) => Promise<T>
  ): Promise<T | undefined>
  /**
   * Like `once`, for one optimistic statement, which changes and returns nothing when the data it rests on has changed. Then
   * this returns `undefined`, and `once` may follow. `send` gets the transaction that also records the request; none without
   * an idempotency key, and the statement then commits alone.
   */
  onceIfUnchanged<T>(
    db: TransactionRunner,
    send: (tx: Transaction | undefined) => Promise<T | undefined>
  ): Promise<T | undefined>
  /** Records, inside `work`, the id of the object that the request created or found, for later attempts. */
  result(id: string): void
  /** Records, inside `work`, the ids of the objects that the request created from a list of its body, in its order. */
  resultsIn(list: string, ids: readonly string[]): void
  /**
   * Returns the result of another request, instead of `once` or after it failed. Records the id under the key in a separate
   * transaction, so that later attempts return the same. Compares no version.
   * @throws `IDEMPOTENCY_KEY_IN_PROGRESS` when a later attempt of this request took over.
   */
  answerWith(db: TransactionRunner, id: string): Promise<void>
  /** Compares the version with If-Match (RFC 9110, section 13.1.1). @throws `stale` when they differ. */
  expect(version: number, stale: ErrorDefinition): void
  /** Whether an earlier attempt committed. Check it before conditions that the write itself makes false. */
  readonly alreadyApplied: boolean
  readonly withoutSlot: RunWithoutRequestSlot
}

/** The request behind a write: its operation id, its result in earlier attempts, its precondition and its deadline. */
export type IdempotentWriteRequest = {
  id: string
  /** An earlier attempt committed; `resultId` is the id that it recorded. */
  isApplied: boolean
  resultId: string | null
  /** The version in If-Match; `null` without one. */
  expectedVersion: number | null
  /** Time at which the client stops waiting, in milliseconds of the monotonic clock. */
  deadlineAt?: number | undefined
  /** Absent for a write without a request, which holds no slot. */
  withoutSlot?: RunWithoutRequestSlot
  /** Writes the fields of other modules after the work. */
  writeFields?: ((tx: Transaction, createdId: CreatedId) => Promise<void>) | undefined
  /** Records in the transaction that the request is done; absent without an idempotency key. */
  mark?: Mark | undefined
}
/** Returns the id of what the request created, or of what it created from an object in a list of its body. */
type CreatedId = (list: string | undefined, index: number) => string
type Mark = (tx: Transaction, resultId: string | null) => Promise<void>

export const idempotencyKeyInProgressError = defineError(
  'conflict',
  'IDEMPOTENCY_KEY_IN_PROGRESS',
  'The first request with this Idempotency-Key is still running; try again shortly.'
)
export const ifMatchNotSupportedError = defineError(
  'stale',
  'IF_MATCH_NOT_SUPPORTED',
  'This has no version that If-Match could be compared with; leave the header out.'
)

export function createIdempotentWrite(operation: IdempotentWriteRequest): IdempotentWrite {
  const { id, isApplied, expectedVersion } = operation
  let resultId = operation.resultId
  const idsIn = new Map<string, readonly string[]>()
  let isCompared = expectedVersion === null
  let isBegun = false

  /**
   * Sends the statement and the mark of the idempotency key in one round trip, and commits afterwards: without a change
   * nothing is recorded.
   */
  async function sendAndMark<T>(
    db: TransactionRunner,
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

  const createdId: CreatedId = (list, index) => {
    const created = list === undefined ? (resultId ?? id) : idsIn.get(list)?.[index]
    if (created === undefined) throw new Error(`the write recorded no id of ${list}[${index}]`)
    return created
  }

  return {
    id,
    resultId: () => resultId ?? id,
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
          if (!isCompared) throw ifMatchNotSupportedError()
          await operation.writeFields?.(tx, createdId)
          await operation.mark?.(tx, resultId)
          return made
        },
        { deadlineAt: operation.deadlineAt }
      )
    },
    onceIfUnchanged: async (db, send) => {
      if (isBegun || isApplied || operation.writeFields !== undefined) return undefined
      if (!isCompared) throw ifMatchNotSupportedError()
      const { mark } = operation
      const made = await (mark === undefined ? send(undefined) : sendAndMark(db, send, mark))
      isBegun = made !== undefined
      return made
    },
    result: noted => {
      resultId = noted
    },
    resultsIn: (list, ids) => {
      idsIn.set(list, ids)
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

/**
 * A write without a request: no precondition and no idempotency key.
 * @example
 * assert.equal(await newWrite().once(db, async () => 'done'), 'done')
 */
export const newWrite = (): IdempotentWrite => writeWithId(newId())

/**
 * The write of a job or an event handler. Its id follows from the job and the label, so that a later attempt of the job
 * finds what an earlier one created. Use another label for each write of one job, and never change a label.
 * @example
 * assert.equal(writeOfJob(job, 'reminder').id, writeOfJob(job, 'reminder').id)
 * assert.notEqual(writeOfJob(job, 'reminder').id, writeOfJob(job, 'farewell').id)
 */
export const writeOfJob = ({ id }: { readonly id: string }, label: string): IdempotentWrite =>
  writeWithId(derivedId(id, label))

const writeWithId = (id: string): IdempotentWrite =>
  createIdempotentWrite({ id, isApplied: false, resultId: null, expectedVersion: null })
