import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { DomainError } from '../../../kernel/errors.ts'
import { createPollPause } from '../../../kernel/poll-pause.ts'
import type { Log } from '../../../platform/log.ts'
import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import type { StockOperation, StockOperationOutcome } from '../decisions/state.ts'
import { stockWriterBusyError } from '../errors.ts'
import { itemIdsOfStockOperation, type StockBatchPublisher } from './batch.ts'
import type { KitComponentCache } from './kit-components.ts'
import { createStockOperationQueue, type QueuedStockOperation } from './queue.ts'
import { recordContestedStockUnits } from './record-contested.ts'
import {
  areStockRequestsPending,
  createStockRequestOutcomeWaiters,
  finishStockRequests,
  lockPendingStockRequests
} from './requests.ts'
import {
  BATCH_ATTEMPT_MS_MAX,
  runStockBatch,
  type StockBatchInput,
  type StockBatchOutcome,
  type StockBatchResult
} from './run-batch.ts'

const BATCH = { operationsMax: 128, linesMax: 300 }
const REQUESTS_MAX = 128
/** Lock timeout in milliseconds. No batch takes this long, so a longer wait means that the lock holder hangs. */
const LOCK_MS = 250
/** How long items that could not be locked are tried without waiting, in milliseconds, so that others proceed. */
const STUCK_MS = 250
/** Pause when all work waits for locks of other transactions, in milliseconds. */
const PAUSE_MS = 5
const STOP_MS_MAX = 10_000
/** All statements of the writer are index lookups. A plan made on empty tables must not become a scan. */
const LOOK_UPS = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' }

export type StockWriterDeps = {
  db: Queryable & Pick<Database, 'dedicated'>
  kits: KitComponentCache
  publisher: StockBatchPublisher
  log: Log
  metrics: Metrics
  queueMax: number
}

/**
 * The stock writer of this process. Operations that arrive together are decided together and written in
 * one transaction, so that contended rows are locked once per batch.
 */
export function createStockWriter({ db, kits, publisher, log, metrics, queueMax }: StockWriterDeps) {
  const dedicated = db.dedicated({
    lockTimeoutMs: LOCK_MS,
    // The time limit of a batch, so that no batch sets its own.
    statementTimeoutMs: BATCH_ATTEMPT_MS_MAX,
    settings: LOOK_UPS
  })
  const queue = createStockOperationQueue(queueMax)
  const waiters = createStockRequestOutcomeWaiters(db)
  const requestItems = new Set<string>()
  const stuck = new Map<string, number>()
  const writerMetrics = declareMetrics(metrics, () => ({ entries: queue.size(), oldestSeconds }))
  let oldestSeconds = 0
  let hasRequests = false
  let isStopping = false
  let wakeUp = Promise.withResolvers<void>()

  const deps = {
    dedicated,
    kits,
    publisher,
    requestItems,
    note: (result: 'done' | 'locked' | 'undone' | 'unknown') => writerMetrics.batches.add({ result })
  }

  /** Makes the next batch query the posted requests. */
  const wake = () => {
    hasRequests = true
    wakeUp.resolve()
  }
  /** Looks over the shared connections, because a process without stock changes needs no connection of its writer. */
  const wakeForRequests = async () => {
    // The next poll looks again.
    if (await areStockRequestsPending(db).catch(() => false)) wake()
  }
  const pause = createPollPause()
  const pollLater = () => setTimeout(poll, pause.ms()).unref()
  const poll = () => {
    polling = pollLater()
    wakeForRequests()
  }
  let polling = pollLater()
  /** Requests were posted in this process. Polls soon, too, because another process may hold the lock of requests now. */
  const requestsPosted = () => {
    pause.worked()
    clearTimeout(polling)
    polling = pollLater()
    wake()
  }

  function push(operation: StockOperation, deadlineAt: number): Promise<StockOperationOutcome> {
    if (isStopping) throw stockWriterBusyError({ retryAfterSeconds: 1 })
    try {
      const outcome = queue.push(operation, deadlineAt)
      writerMetrics.operations.add({ kind: operation.kind })
      wakeUp.resolve()
      return outcome
    } catch (error) {
      writerMetrics.refused.add({ reason: 'busy' })
      throw error
    }
  }

  async function work(): Promise<void> {
    for (;;) {
      // Waits one turn of the event loop, so that operations that arrive together share a batch.
      await nextTurn()
      const entries = queue.take(BATCH)
      const requestsMax = hasRequests ? REQUESTS_MAX : 0
      hasRequests = false
      if (entries.length + requestsMax > 0) await runAndReport({ entries, requestsMax })
      else if (isStopping) return
      else {
        await wakeUp.promise
        wakeUp = Promise.withResolvers()
      }
    }
  }

  /** An unexpected error in one batch must not stop the writer. */
  async function runAndReport(given: StockBatchInput): Promise<void> {
    try {
      await run(given)
    } catch (error) {
      log.error({ err: error }, 'a batch of stock changes failed unexpectedly')
      for (const entry of given.entries) entry.fail(error)
    }
  }

  async function run(given: StockBatchInput): Promise<void> {
    const startedAt = performance.now()
    const ended = await runStockBatch(deps, given, !usesStuckItems(given))
    if (given.entries.length > 0) writerMetrics.seconds.observe({}, (performance.now() - startedAt) / 1_000)
    if (ended.kind === 'done') await settle(given.entries, ended.result)
    else await retrySmaller(given, ended)
  }

  function usesStuckItems({ entries }: StockBatchInput): boolean {
    if (stuck.size === 0) return false
    const now = performance.now()
    for (const [itemId, until] of stuck) if (until < now) stuck.delete(itemId)
    const isStuck = (itemId: string) => stuck.has(itemId)
    return (
      [...requestItems].some(isStuck) ||
      entries.some(
        ({ operation, items }) => itemIdsOfStockOperation(operation).some(isStuck) || [...items].some(isStuck)
      )
    )
  }

  async function settle(entries: readonly QueuedStockOperation[], result: StockBatchResult): Promise<void> {
    const { outcomes, requests, requestOutcomes, unlocked, areMore, changed } = result
    // Invalidates caches before callers get the outcome, so that they read the new quantity.
    if (changed.length > 0) publisher.invalidate(changed)
    for (const itemId of unlocked) stuck.set(itemId, performance.now() + STUCK_MS)
    for (const [index, { operation }] of requests.entries()) {
      writerMetrics.operations.add({ kind: operation.kind })
      waiters.resolve(operation.id, requestOutcomes[index] as StockOperationOutcome)
    }
    if (requests.length > 0) {
      pause.worked()
      oldestSeconds = requests[0]?.ageSeconds ?? 0
    } else if (!areMore) oldestSeconds = 0
    if (areMore) hasRequests = true
    const again: QueuedStockOperation[] = []
    let hasLearned = false
    for (const [index, entry] of entries.entries()) {
      const outcome = outcomes[index] as StockOperationOutcome
      if (outcome.kind === 'short') writerMetrics.refused.add({ reason: 'short' })
      if (outcome.kind !== 'later') {
        entry.settle(outcome)
        continue
      }
      const items = new Set([...entry.items, ...outcome.itemIds])
      hasLearned ||= items.size > entry.items.size
      again.push({ ...entry, items })
    }
    queue.putOff(again)
    const isWaiting = again.length > 0 || areMore
    const isAnythingDone = again.length < entries.length || requests.length > 0 || hasLearned
    if (isWaiting && !isAnythingDone) await delay(PAUSE_MS)
  }

  /** Retries a failed batch in smaller parts, so that one operation's failure does not affect the others. */
  async function retrySmaller(
    { entries, requestsMax }: StockBatchInput,
    ended: Exclude<StockBatchOutcome, { kind: 'done' }>
  ): Promise<void> {
    const { error } = ended
    const requests = ended.kind === 'undone' ? ended.requests : []
    const isNobodysFault = error instanceof DomainError && error.kind === 'unavailable'
    if (ended.kind === 'unknown' || (isNobodysFault && !isBusy(error))) {
      for (const entry of entries) entry.fail(error)
      if (requestsMax > 0) hasRequests = true
      await delay(PAUSE_MS)
    } else if (entries.length > 0 && requests.length > 0) {
      await run({ entries, requestsMax: 0 })
      await run({ entries: [], requestsMax: requests.length })
    } else if (entries.length > 1) {
      const half = Math.ceil(entries.length / 2)
      await run({ entries: entries.slice(0, half), requestsMax: 0 })
      await run({ entries: entries.slice(half), requestsMax: 0 })
    } else if (requests.length > 1) {
      hasRequests = true
      await run({ entries: [], requestsMax: Math.ceil(requests.length / 2) })
    } else if (requests[0] !== undefined && !isBusy(error)) {
      await giveUp(requests[0], error)
    } else {
      entries[0]?.fail(error)
      if (requestsMax > 0) hasRequests = true
      await delay(PAUSE_MS)
    }
  }

  /** Marks a request as failed, because it would block all later requests. */
  async function giveUp(id: string, cause: unknown): Promise<void> {
    log.error({ request: id, err: cause }, 'a stock request cannot be applied and is marked as failed')
    const attempt = await dedicated.attempt(
      async tx => {
        const { waiting } = await lockPendingStockRequests(tx, 1)
        if (waiting[0]?.operation.id !== id) return
        await finishStockRequests(tx, [id], [{ kind: 'failed' }])
        await recordContestedStockUnits(tx, publisher, waiting, [{ kind: 'failed' }])
      },
      { deadlineAt: performance.now() + STOP_MS_MAX }
    )
    if (attempt.kind === 'done') waiters.resolve(id, { kind: 'failed' })
    else await delay(PAUSE_MS)
    hasRequests = true
  }

  const working = work()
  wakeForRequests()

  return {
    /**
     * Adds the operation to the next batch. @throws `INVENTORY_BUSY` when the queue is full, or the
     * deadline passes.
     */
    push,
    wake: requestsPosted,
    outcomeOf: waiters.outcomeOf,
    outcomesOf: waiters.outcomesOf,
    /** Stops accepting operations and finishes the queued ones, including requests posted here. */
    stop: async () => {
      clearTimeout(polling)
      await Promise.race([wakeForRequests(), delay(BATCH_ATTEMPT_MS_MAX, undefined, { ref: false })])
      isStopping = true
      wakeUp.resolve()
      await Promise.race([working, delay(STOP_MS_MAX, undefined, { ref: false })])
      await dedicated.close()
    }
  }
}
export type StockWriter = ReturnType<typeof createStockWriter>

const isBusy = (error: unknown) => error instanceof DomainError && error.code === stockWriterBusyError.code

function declareMetrics(metrics: Metrics, now: () => { entries: number; oldestSeconds: number }) {
  metrics.gauge('queue_entries', 'Stock changes waiting for a batch.', () => now().entries)
  metrics.gauge(
    'requests_oldest_seconds',
    'Age of the oldest posted stock change in the latest batch, in seconds.',
    () => now().oldestSeconds
  )
  return {
    batches: metrics.counter('batches', 'Batches of stock changes, by result.', {
      result: ['done', 'locked', 'undone', 'unknown']
    }),
    operations: metrics.counter(
      'operations',
      'Stock changes that were queued, and posted requests that were completed.',
      {
        kind: ['reserve', 'drop', 'expire', 'release', 'take', 'ship', 'unship', 'return', 'count', 'adjust']
      }
    ),
    refused: metrics.counter('refused', 'Refused reservations.', { reason: ['short', 'busy'] }),
    seconds: metrics.histogram(
      'batch_seconds',
      'Duration of batches, in seconds.',
      {},
      [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
    )
  }
}
