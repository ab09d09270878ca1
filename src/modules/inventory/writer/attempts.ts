import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../../kernel/ids.ts'
import type { Apart } from '../../../platform/postgres/apart.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { inventoryBusy } from '../errors.ts'
import { finishRequests, takeRequests, type Waiting } from '../requests/requests.ts'
import { decide } from '../stock/decide.ts'
import type { Decided, Operation, Outcome, Stock } from '../stock/state.ts'
import { findShortfalls, itemsOf, readStock, type Tell, write, writesOf } from './batch.ts'
import type { Kits } from './kits.ts'
import type { Entry } from './queue.ts'
import { insertBatch } from './repository.ts'

/** What one batch is made of: entries of the queue, and so many requests at most. */
export type Work = { readonly entries: readonly Entry[]; readonly requestsMax: number }
/** What a batch decided, and wrote when it was committed. */
export type Result = {
  readonly requests: readonly Waiting[]
  readonly areMore: boolean
  readonly decided: Decided
  /** Of the requests, in their order, and of the entries. */
  readonly requestOutcomes: readonly Outcome[]
  readonly outcomes: readonly Outcome[]
  /** Items that somebody else held. */
  readonly unlocked: ReadonlySet<string>
}
export type Ended =
  | { kind: 'done'; result: Result }
  /** Nothing was changed. `requests`: those that were in it. */
  | { kind: 'undone'; error: unknown; requests: readonly string[] }
  /** Whether anything was changed could not be found out in time. */
  | { kind: 'unknown'; error: unknown }

/** Far more than a batch takes: a connection that is silent for so long is dead. */
const ATTEMPT_MS_MAX = 2_000
/** How long it is asked whether a batch was committed, when its answer was lost. */
const UNKNOWN_MS_MAX = 5_000
const UNKNOWN_PAUSE_MS = 20

const NOTHING: Result = {
  requests: [],
  areMore: false,
  decided: {
    outcomes: [],
    levels: [],
    inserted: [],
    updated: [],
    movements: [],
    crossings: [],
    shortfalls: []
  },
  requestOutcomes: [],
  outcomes: [],
  unlocked: new Set()
}

type AttemptDeps = {
  apart: Apart
  kits: Kits
  tell: Tell
  /** Items that requests turned out to need, beside those that they name. */
  requestItems: Set<string>
  note(result: 'done' | 'locked' | 'undone' | 'unknown'): void
}

/**
 * Runs one batch until it is known how it ended. A commit whose answer was lost is repeated under the same id: its row in
 * `inventory.batches` waits for the old transaction, and is refused when that was committed. Until then nothing is
 * decided anew, so nothing can happen twice.
 */
export async function runBatch(deps: AttemptDeps, work: Work, mayWait: boolean): Promise<Ended> {
  const { apart, note } = deps
  let id = newId()
  let isWaiting = mayWait
  /** An earlier attempt with this id may have been committed. */
  let isOpen = false
  let result: Result | undefined
  let requests: readonly string[] = []
  const onTaken = (ids: readonly string[]) => {
    requests = ids
  }
  let giveUpAt = Number.POSITIVE_INFINITY
  for (;;) {
    const attempt = await apart.attempt(
      async tx => {
        const isRepeat = isOpen
        if (isRepeat && (await tx.run(insertBatch, { id })) === 0) return
        isOpen = false
        result = await runOnce(deps, tx, work, { isWaiting, batchId: isRepeat ? undefined : id, onTaken })
      },
      { deadlineAt: performance.now() + ATTEMPT_MS_MAX }
    )
    if (attempt.kind !== 'done' || hasWork(work, result)) note(attempt.kind)
    const hasWritten = result !== undefined && (writesOf(result.decided) > 0 || result.requests.length > 0)
    if (attempt.kind === 'done' || (attempt.kind === 'unknown' && !hasWritten))
      return { kind: 'done', result: result as Result }
    const error = attempt.kind === 'locked' ? inventoryBusy({ retryAfterSeconds: 1 }) : attempt.error
    if (attempt.kind === 'unknown' || isOpen) {
      isOpen = true
      giveUpAt = Math.min(giveUpAt, performance.now() + UNKNOWN_MS_MAX)
      if (performance.now() > giveUpAt) return { kind: 'unknown', error }
      await delay(UNKNOWN_PAUSE_MS)
      continue
    }
    if (attempt.kind === 'undone' || !isWaiting) return { kind: 'undone', error, requests }
    isWaiting = false
    id = newId()
  }
}

const hasWork = ({ entries }: Work, result: Result | undefined) =>
  entries.length > 0 || (result?.requests.length ?? 0) > 0

type Once = {
  isWaiting: boolean
  /** None when its row is there already. */
  batchId: string | undefined
  onTaken(ids: readonly string[]): void
}

async function runOnce(
  { kits, tell, requestItems }: AttemptDeps,
  tx: Transaction,
  { entries, requestsMax }: Work,
  { isWaiting, batchId, onTaken }: Once
): Promise<Result> {
  const { waiting, areMore } =
    requestsMax > 0 ? await takeRequests(tx, requestsMax) : { waiting: [], areMore: false }
  onTaken(waiting.map(({ operation }) => operation.id))
  const operations = entries.map(({ operation }) => operation)
  if (waiting.length + operations.length === 0) return { ...NOTHING, areMore }
  const all = [...waiting.map(({ operation }) => operation), ...operations]
  const items = new Set([
    ...requestItems,
    ...all.flatMap(itemsOf),
    ...entries.flatMap(each => [...each.items])
  ])
  const { stock, unlocked } = await readStock(tx, all, { items, isWaiting, kitsOf: await kits.of() })
  const { requests, decided } = decideInOrder(stock, waiting, operations, requestItems)
  const requestOutcomes = decided.outcomes.slice(0, requests.length)
  const outcomes = decided.outcomes.slice(requests.length)
  if (writesOf(decided) > 0 || requests.length > 0) {
    const shortfalls = await findShortfalls(tx, decided)
    for (const each of decided.crossings) tell.crossed(tx, each)
    for (const each of shortfalls) tell.short(tx, each)
    tx.withCommit(() =>
      Promise.all([
        batchId !== undefined && tx.run(insertBatch, { id: batchId }),
        write(tx, decided),
        requests.length > 0 &&
          finishRequests(
            tx,
            requests.map(({ operation }) => operation.id),
            requestOutcomes
          )
      ])
    )
  }
  const areLeft = areMore || requests.length < waiting.length
  return { requests, areMore: areLeft, decided, requestOutcomes, outcomes, unlocked }
}

/**
 * Requests keep their order: when one of them must wait for items that are not locked, those behind it wait, too. The
 * items are remembered for the next batch.
 */
function decideInOrder(
  stock: Stock,
  waiting: readonly Waiting[],
  operations: readonly Operation[],
  requestItems: Set<string>
): { requests: readonly Waiting[]; decided: Decided } {
  const decideWith = (requests: readonly Waiting[]) =>
    decide(stock, [...requests.map(({ operation }) => operation), ...operations])
  const decided = decideWith(waiting)
  const late = decided.outcomes.slice(0, waiting.length).findIndex(({ kind }) => kind === 'later')
  if (late < 0) {
    if (waiting.length > 0) requestItems.clear()
    return { requests: waiting, decided }
  }
  const outcome = decided.outcomes[late]
  if (outcome?.kind === 'later') for (const itemId of outcome.itemIds) requestItems.add(itemId)
  const requests = waiting.slice(0, late)
  return { requests, decided: decideWith(requests) }
}
