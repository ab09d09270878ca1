import { setTimeout as delay } from 'node:timers/promises'
import type { Apart } from '../../../platform/postgres/apart.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { inventoryBusy } from '../errors.ts'
import { finishRequests, takeRequests, type Waiting } from '../requests/requests.ts'
import { decide } from '../stock/decide.ts'
import type { Decided, Operation, Outcome, Stock } from '../stock/state.ts'
import { findShortfalls, itemsOf, readStock, type Tell, write, writesOf } from './batch.ts'
import type { Kits } from './kits.ts'
import type { Entry } from './queue.ts'
import { settleTakes } from './takes.ts'

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
  /** Of which something else can be bought: items, and kits that they are part of. */
  readonly changed: readonly string[]
}
export type Ended =
  | { kind: 'done'; result: Result }
  /** Nothing was changed. `requests`: those that were in it. */
  | { kind: 'undone'; error: unknown; requests: readonly string[] }
  /** Whether anything was changed could not be found out in time. */
  | { kind: 'unknown'; error: unknown }

/** Far more than a batch takes: a connection that is silent for so long is dead. */
const ATTEMPT_MS_MAX = 2_000
/** How long a batch is decided anew whose answer was lost. */
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
  unlocked: new Set(),
  changed: []
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
 * Runs one batch until it is known how it ended. When the answer of a commit was lost, the batch is decided anew: the old
 * transaction keeps its levels locked until it has ended, so whatever it wrote is seen then. What it reserved is held
 * already, what it gave back is given back, and requests that it did are not found again.
 */
export async function runBatch(deps: AttemptDeps, work: Work, mayWait: boolean): Promise<Ended> {
  const { apart, note } = deps
  let isWaiting = mayWait
  let result: Result | undefined
  let requests: readonly string[] = []
  const onTaken = (ids: readonly string[]) => {
    requests = ids
  }
  let giveUpAt = Number.POSITIVE_INFINITY
  for (;;) {
    const attempt = await apart.attempt(
      async tx => {
        result = await runOnce(deps, tx, work, { isWaiting, onTaken })
      },
      { deadlineAt: performance.now() + ATTEMPT_MS_MAX }
    )
    if (attempt.kind !== 'done' || hasWork(work, result)) note(attempt.kind)
    const hasWritten = result !== undefined && (writesOf(result.decided) > 0 || result.requests.length > 0)
    if (attempt.kind === 'done' || (attempt.kind === 'unknown' && !hasWritten))
      return { kind: 'done', result: result as Result }
    if (attempt.kind === 'unknown') {
      giveUpAt = Math.min(giveUpAt, performance.now() + UNKNOWN_MS_MAX)
      if (performance.now() > giveUpAt) return attempt
      await delay(UNKNOWN_PAUSE_MS)
    } else if (attempt.kind === 'undone') return { ...attempt, requests }
    else if (!isWaiting) return { kind: 'undone', error: inventoryBusy({ retryAfterSeconds: 1 }), requests }
    else isWaiting = false
  }
}

const hasWork = ({ entries }: Work, result: Result | undefined) =>
  entries.length > 0 || (result?.requests.length ?? 0) > 0

type Once = {
  isWaiting: boolean
  onTaken(ids: readonly string[]): void
}

async function runOnce(
  { kits, tell, requestItems }: AttemptDeps,
  tx: Transaction,
  { entries, requestsMax }: Work,
  { isWaiting, onTaken }: Once
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
    await settleTakes(tx, tell, requests, requestOutcomes)
    tx.withCommit(() =>
      Promise.all([
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
  const changed = decided.levels.flatMap(({ itemId }) => [
    itemId,
    ...(stock.kitsOf.get(itemId) ?? []).map(({ variantId }) => variantId)
  ])
  return { requests, areMore: areLeft, decided, requestOutcomes, outcomes, unlocked, changed }
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
