import { setTimeout as delay } from 'node:timers/promises'
import type { DedicatedConnection, Transaction } from '../../../platform/postgres/database.ts'
import { decideStockOperations } from '../decisions/decide.ts'
import type {
  LockedStockState,
  StockBatchDecision,
  StockOperation,
  StockOperationOutcome
} from '../decisions/state.ts'
import { stockWriterBusyError } from '../errors.ts'
import {
  countStockDecisionWrites,
  findOrdersOfStockShortfalls,
  itemIdsOfStockOperation,
  lockAndReadStock,
  type StockBatchPublisher,
  writeStockBatchDecision
} from './batch.ts'
import type { KitComponentCache } from './kit-components.ts'
import type { QueuedStockOperation } from './queue.ts'
import { recordContestedStockUnits } from './record-contested.ts'
import { finishStockRequests, lockPendingStockRequests, type PendingStockRequest } from './requests.ts'

/** Work of one batch: queue entries, and the maximum number of requests. */
export type StockBatchInput = {
  readonly entries: readonly QueuedStockOperation[]
  readonly requestsMax: number
}
/** Result of a committed batch. */
export type StockBatchResult = {
  readonly requests: readonly PendingStockRequest[]
  readonly areMore: boolean
  readonly decided: StockBatchDecision
  /** Outcomes of the requests and of the entries, in their order. */
  readonly requestOutcomes: readonly StockOperationOutcome[]
  readonly outcomes: readonly StockOperationOutcome[]
  /** Items that another transaction had locked. */
  readonly unlocked: ReadonlySet<string>
  /** Items and kits whose available quantity changed. */
  readonly changed: readonly string[]
}
export type StockBatchOutcome =
  | { kind: 'done'; result: StockBatchResult }
  /** The batch failed and changed nothing. `requests`: ids of the requests in the batch. */
  | { kind: 'undone'; error: unknown; requests: readonly string[] }
  /** The outcome of the batch is unknown: in the time limit, no attempt showed whether it was committed. */
  | { kind: 'unknown'; error: unknown }

/** Time limit of one attempt, in milliseconds: far longer than a batch takes, so the connection is dead. */
export const BATCH_ATTEMPT_MS_MAX = 2_000
/** How long a batch with an unknown commit is retried, in milliseconds. */
const UNKNOWN_MS_MAX = 5_000
const UNKNOWN_PAUSE_MS = 20

const EMPTY_RESULT: StockBatchResult = {
  requests: [],
  areMore: false,
  decided: {
    outcomes: [],
    levels: [],
    inserted: [],
    updated: [],
    movements: [],
    statusChanges: [],
    shortfalls: []
  },
  requestOutcomes: [],
  outcomes: [],
  unlocked: new Set(),
  changed: []
}

type RunBatchDeps = {
  dedicated: DedicatedConnection
  kits: KitComponentCache
  publisher: StockBatchPublisher
  /** Further items that requests need, found when they were first decided. */
  requestItems: Set<string>
  note(result: 'done' | 'locked' | 'undone' | 'unknown'): void
}

/**
 * Runs one batch until its outcome is known. When the response to COMMIT was lost, the batch is decided
 * again. The old transaction keeps its locks until it ends, so its writes are then visible. Its
 * reservations exist, and its finished requests are no longer listed.
 */
export async function runStockBatch(
  deps: RunBatchDeps,
  work: StockBatchInput,
  mayWait: boolean
): Promise<StockBatchOutcome> {
  const { dedicated, note } = deps
  let isWaiting = mayWait
  let result: StockBatchResult | undefined
  let requests: readonly string[] = []
  const onTaken = (ids: readonly string[]) => {
    requests = ids
  }
  let giveUpAt = Number.POSITIVE_INFINITY
  for (;;) {
    const attempt = await dedicated.attempt(
      async tx => {
        result = await runOnce(deps, tx, work, { isWaiting, onTaken })
      },
      { deadlineAt: performance.now() + BATCH_ATTEMPT_MS_MAX }
    )
    if (attempt.kind !== 'done' || hasWork(work, result)) note(attempt.kind)
    const hasWritten =
      result !== undefined && (countStockDecisionWrites(result.decided) > 0 || result.requests.length > 0)
    if (attempt.kind === 'done' || (attempt.kind === 'unknown' && !hasWritten))
      return { kind: 'done', result: result as StockBatchResult }
    if (attempt.kind === 'unknown') {
      giveUpAt = Math.min(giveUpAt, performance.now() + UNKNOWN_MS_MAX)
      if (performance.now() > giveUpAt) return attempt
      await delay(UNKNOWN_PAUSE_MS)
    } else if (attempt.kind === 'undone') return { ...attempt, requests }
    else if (!isWaiting)
      return { kind: 'undone', error: stockWriterBusyError({ retryAfterSeconds: 1 }), requests }
    else isWaiting = false
  }
}

const hasWork = ({ entries }: StockBatchInput, result: StockBatchResult | undefined) =>
  entries.length > 0 || (result?.requests.length ?? 0) > 0

type RunOptions = {
  isWaiting: boolean
  onTaken(ids: readonly string[]): void
}

async function runOnce(
  { kits, publisher, requestItems }: RunBatchDeps,
  tx: Transaction,
  { entries, requestsMax }: StockBatchInput,
  { isWaiting, onTaken }: RunOptions
): Promise<StockBatchResult> {
  const { waiting, areMore } =
    requestsMax > 0 ? await lockPendingStockRequests(tx, requestsMax) : { waiting: [], areMore: false }
  onTaken(waiting.map(({ operation }) => operation.id))
  const operations = entries.map(({ operation }) => operation)
  if (waiting.length + operations.length === 0) return { ...EMPTY_RESULT, areMore }
  const all = [...waiting.map(({ operation }) => operation), ...operations]
  const items = new Set([
    ...requestItems,
    ...all.flatMap(itemIdsOfStockOperation),
    ...entries.flatMap(each => [...each.items])
  ])
  const { stock, unlocked } = await lockAndReadStock(tx, all, { items, isWaiting, kitsOf: await kits.of() })
  const { requests, decided } = decideInOrder(stock, waiting, operations, requestItems)
  const requestOutcomes = decided.outcomes.slice(0, requests.length)
  const outcomes = decided.outcomes.slice(requests.length)
  if (countStockDecisionWrites(decided) > 0 || requests.length > 0) {
    const shortfalls = await findOrdersOfStockShortfalls(tx, decided)
    for (const each of decided.statusChanges) publisher.emitCrossed(tx, each)
    for (const each of shortfalls) publisher.emitShort(tx, each)
    await recordContestedStockUnits(tx, publisher, requests, requestOutcomes)
    tx.withCommit(() =>
      Promise.all([
        writeStockBatchDecision(tx, decided),
        requests.length > 0 &&
          finishStockRequests(
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
 * Decides the requests in order. When one needs items that are not locked, it and all later requests wait
 * for the next batch, which locks these items.
 */
function decideInOrder(
  stock: LockedStockState,
  waiting: readonly PendingStockRequest[],
  operations: readonly StockOperation[],
  requestItems: Set<string>
): { requests: readonly PendingStockRequest[]; decided: StockBatchDecision } {
  const decideWith = (requests: readonly PendingStockRequest[]) =>
    decideStockOperations(stock, [...requests.map(({ operation }) => operation), ...operations])
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
