import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { DomainError } from '../../../kernel/errors.ts'
import type { Log } from '../../../platform/log.ts'
import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import { inventoryBusy } from '../errors.ts'
import { createWaiters, finishRequests, takeRequests } from '../requests/requests.ts'
import type { Operation, Outcome } from '../stock/state.ts'
import { type Ended, type Result, runBatch, type Work } from './attempts.ts'
import { itemsOf, type Tell } from './batch.ts'
import type { Kits } from './kits.ts'
import { createQueue, type Entry } from './queue.ts'
import { settleTakes } from './takes.ts'

const BATCH = { operationsMax: 128, linesMax: 300 }
const REQUESTS_MAX = 128
/** Longer than any batch takes: who holds a level for longer stands still. */
const LOCK_MS = 250
/** Items that could not be locked in time are tried without waiting for so long, so that others get on. */
const STUCK_MS = 250
/** When there is nothing but what has to wait for somebody else. */
const PAUSE_MS = 5
const REQUESTS_SECONDS = 1
const STOP_MS_MAX = 10_000
/**
 * All of its statements are look-ups. Plans that were made while tables were empty must not turn into scans of them.
 */
const LOOK_UPS = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' }

export type WriterDeps = {
  db: Queryable & Pick<Database, 'apart'>
  kits: Kits
  tell: Tell
  log: Log
  metrics: Metrics
  queueMax: number
}

/**
 * Changes stock, for everybody in this process: what comes at the same time is decided together and written in one
 * transaction, so that rows that everybody wants are locked once for all of them.
 */
export function createWriter({ db, kits, tell, log, metrics, queueMax }: WriterDeps) {
  const apart = db.apart({ lockTimeoutMs: LOCK_MS, settings: LOOK_UPS })
  const queue = createQueue(queueMax)
  const waiters = createWaiters(db)
  const requestItems = new Set<string>()
  const stuck = new Map<string, number>()
  const figures = declareFigures(metrics, () => ({ entries: queue.size(), oldestSeconds }))
  let oldestSeconds = 0
  let hasRequests = true
  let isStopping = false
  let wakeUp = Promise.withResolvers<void>()

  const deps = {
    apart,
    kits,
    tell,
    requestItems,
    note: (result: 'done' | 'locked' | 'undone' | 'unknown') => figures.batches.add({ result })
  }

  /** Requests may be waiting. */
  const wake = () => {
    hasRequests = true
    wakeUp.resolve()
  }
  const ticking = setInterval(wake, REQUESTS_SECONDS * 1_000).unref()

  function push(operation: Operation, deadlineAt: number): Promise<Outcome> {
    if (isStopping) throw inventoryBusy({ retryAfterSeconds: 1 })
    try {
      const outcome = queue.push(operation, deadlineAt)
      figures.operations.add({ kind: operation.kind })
      wakeUp.resolve()
      return outcome
    } catch (error) {
      figures.refused.add({ reason: 'busy' })
      throw error
    }
  }

  async function work(): Promise<void> {
    for (;;) {
      // Whoever comes in the same turn is in the same batch.
      await nextTurn()
      const entries = queue.take(BATCH)
      const requestsMax = hasRequests ? REQUESTS_MAX : 0
      hasRequests = false
      if (entries.length + requestsMax > 0) await runSafely({ entries, requestsMax })
      else if (isStopping) return
      else {
        await wakeUp.promise
        wakeUp = Promise.withResolvers()
      }
    }
  }

  /** What is wrong with one batch must not be the end of all. */
  async function runSafely(given: Work): Promise<void> {
    try {
      await run(given)
    } catch (error) {
      log.error({ err: error }, 'a batch of stock changes went wrong')
      for (const entry of given.entries) entry.fail(error)
    }
  }

  async function run(given: Work): Promise<void> {
    const startedAt = performance.now()
    const ended = await runBatch(deps, given, !touchesStuck(given))
    if (given.entries.length > 0) figures.seconds.observe({}, (performance.now() - startedAt) / 1_000)
    if (ended.kind === 'done') await settle(given.entries, ended.result)
    else await afterFailure(given, ended)
  }

  function touchesStuck({ entries }: Work): boolean {
    if (stuck.size === 0) return false
    const now = performance.now()
    for (const [itemId, until] of stuck) if (until < now) stuck.delete(itemId)
    const isStuck = (itemId: string) => stuck.has(itemId)
    return (
      [...requestItems].some(isStuck) ||
      entries.some(({ operation, items }) => itemsOf(operation).some(isStuck) || [...items].some(isStuck))
    )
  }

  async function settle(entries: readonly Entry[], result: Result): Promise<void> {
    const { outcomes, requests, requestOutcomes, unlocked, areMore, changed } = result
    // Before anybody learns of it: who asks then sees it.
    if (changed.length > 0) tell.changed(changed)
    for (const itemId of unlocked) stuck.set(itemId, performance.now() + STUCK_MS)
    for (const [index, { operation }] of requests.entries()) {
      figures.operations.add({ kind: operation.kind })
      waiters.tell(operation.id, requestOutcomes[index] as Outcome)
    }
    if (requests.length > 0) oldestSeconds = requests[0]?.ageSeconds ?? 0
    else if (!areMore) oldestSeconds = 0
    if (areMore) hasRequests = true
    const again: Entry[] = []
    let hasLearned = false
    for (const [index, entry] of entries.entries()) {
      const outcome = outcomes[index] as Outcome
      if (outcome.kind === 'short') figures.refused.add({ reason: 'short' })
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

  /** What fails together is tried apart, so that nobody fails by another one's fault. */
  async function afterFailure(
    { entries, requestsMax }: Work,
    ended: Exclude<Ended, { kind: 'done' }>
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

  /** A request that cannot be done would hold up all others for ever. */
  async function giveUp(id: string, cause: unknown): Promise<void> {
    log.error({ request: id, err: cause }, 'a stock request cannot be done, and is given up')
    const attempt = await apart.attempt(
      async tx => {
        const { waiting } = await takeRequests(tx, 1)
        if (waiting[0]?.operation.id !== id) return
        await finishRequests(tx, [id], [{ kind: 'failed' }])
        await settleTakes(tx, tell, waiting, [{ kind: 'failed' }])
      },
      { deadlineAt: performance.now() + STOP_MS_MAX }
    )
    if (attempt.kind === 'done') waiters.tell(id, { kind: 'failed' })
    else await delay(PAUSE_MS)
    hasRequests = true
  }

  const working = work()

  return {
    /** Does the operation with the next batch. @throws `INVENTORY_BUSY` when the queue is full, or not done in time. */
    push,
    wake,
    outcomeOf: waiters.outcomeOf,
    outcomesOf: waiters.outcomesOf,
    /** Takes nothing more, and does what waits, that which was posted here included. */
    stop: async () => {
      isStopping = true
      clearInterval(ticking)
      wake()
      await Promise.race([working, delay(STOP_MS_MAX, undefined, { ref: false })])
      await apart.close()
    }
  }
}
export type Writer = ReturnType<typeof createWriter>

const isBusy = (error: unknown) => error instanceof DomainError && error.code === inventoryBusy.code

function declareFigures(metrics: Metrics, now: () => { entries: number; oldestSeconds: number }) {
  metrics.gauge('queue_entries', 'Changes of stock that wait for a batch.', () => now().entries)
  metrics.gauge(
    'requests_oldest_seconds',
    'How long the oldest posted change of stock waited, when the latest were done.',
    () => now().oldestSeconds
  )
  return {
    batches: metrics.counter('batches', 'Batches of stock changes, by how they ended.', {
      result: ['done', 'locked', 'undone', 'unknown']
    }),
    operations: metrics.counter(
      'operations',
      'Changes of stock that were queued, and requests that were done.',
      {
        kind: ['reserve', 'drop', 'expire', 'release', 'take', 'ship', 'unship', 'return', 'count', 'adjust']
      }
    ),
    refused: metrics.counter('refused', 'Reservations that were refused.', { reason: ['short', 'busy'] }),
    seconds: metrics.histogram(
      'batch_seconds',
      'How long batches took.',
      {},
      [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
    )
  }
}
