import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { derivedId, LOWEST_ID, newId } from '../../kernel/ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../postgres/database.ts'
import { createOutboxJobClaims, type OutboxJobClaims, type RecurringJobScheduleRow } from './claims.ts'
import { createHandlerRunner } from './handler-runner.ts'
import type { EventOrJobHandler } from './handlers.ts'
import { createJobHandover, type HandoverLease } from './handover.ts'
import type { ClaimedJob } from './job-queries.ts'
import { createJobAttemptMetricCounter, createOutboxBacklogGauges } from './metrics.ts'
import { createSemaphore } from './semaphore.ts'

export type OutboxDispatcherDependencies = { db: Database; log: Log; metrics: Metrics }

const POLL_MS = 1_000
const BACKLOG_MS = 10_000
/**
 * Batches of one kind of handler that one process handles simultaneously. Few, because most connections are for requests; by
 * kind, so that slow work delays only its own kind.
 */
const BATCHES_PER_KIND_MAX = 2
const QUICK_SECONDS = 60
const EVENTS_PER_CLAIM_MAX = 200
/** Several renewals fit into one lease. */
const RENEW_MS = 3_000
const STOP_MS = 5_000

type AttachedHandler = {
  name: string
  handler: EventOrJobHandler
  mayHaveDueJobs: boolean
  /** When `hasWork` of a recurring job was called last. */
  askedAt: number
  /** New jobs that need no claim. */
  readonly handover: ReturnType<typeof createJobHandover>
  /** Loops that claim rows and run the handler: one for each running batch, and at most one that waits for more rows. */
  readonly claimLoops: Set<Promise<void>>
  readonly followUps: Set<Promise<void>>
  /** Shared with handlers of its kind; of its own when the job declares a concurrency. */
  readonly semaphore: ReturnType<typeof createSemaphore>
}

/** The row of a recurring job, shared by all processes. */
export const createRecurringJobSchedule = (
  handler: string,
  firstDelaySeconds = 0
): RecurringJobScheduleRow => ({
  handler,
  subject: derivedId(LOWEST_ID, handler),
  eventId: newId(),
  firstDelaySeconds
})

/** Claims due rows and runs their handlers. A commit in this process wakes it; polling finds rows of other processes. */
export function createOutboxDispatcher({ db, log, metrics }: OutboxDispatcherDependencies) {
  const attached = new Map<string, AttachedHandler>()
  const stopping = new AbortController()
  const { signal } = stopping
  const backlog = createOutboxBacklogGauges(metrics)
  const count = createJobAttemptMetricCounter(metrics)
  const sharedSemaphores = {
    event: createSemaphore(BATCHES_PER_KIND_MAX),
    external: createSemaphore(BATCHES_PER_KIND_MAX),
    quick: createSemaphore(BATCHES_PER_KIND_MAX),
    long: createSemaphore(BATCHES_PER_KIND_MAX)
  }
  let running: { claims: OutboxJobClaims; loops: Promise<void>[] } | undefined
  /** Handlers run in the async context of the dispatcher, so an uncaught error is not attributed to a request. */
  const inOwnContext = AsyncLocalStorage.snapshot()

  function wake(name: string): void {
    const found = attached.get(name)
    if (running === undefined || found === undefined || signal.aborted) return
    found.mayHaveDueJobs = true
    startLoop(found, running.claims)
  }

  /** Wakes a recurring job unless it has nothing to do. Its row then stays due, and it is asked again after its interval. */
  async function wakeIfWork(own: AttachedHandler): Promise<void> {
    const { name, handler } = own
    const now = performance.now()
    const { hasWork, intervalSeconds = 0 } = 'runJob' in handler ? handler : {}
    if (hasWork !== undefined && now < own.askedAt + intervalSeconds * 1_000) return
    own.askedAt = now
    // The run reports the error, if it persists.
    if ((await hasWork?.().catch(() => true)) !== false) wake(name)
  }

  function startLoop(own: AttachedHandler, claims: OutboxJobClaims): void {
    const { handler, claimLoops } = own
    if (claimLoops.size >= concurrencyOf(handler)) return
    const loop = inOwnContext(() => handleUntilNothingIsDue(own, claims)).finally(() => {
      claimLoops.delete(loop)
      if (mustRun(own) && !signal.aborted) startLoop(own, claims)
    })
    claimLoops.add(loop)
  }

  /** Handles what was handed over, and claims and handles until nothing is due. */
  async function handleUntilNothingIsDue(own: AttachedHandler, claims: OutboxJobClaims): Promise<void> {
    const { name, handler, semaphore, followUps } = own
    const isJob = 'runJob' in handler
    const runner = createHandlerRunner({ db, log, claims, count, signal, name, handler, followUps })
    // Rows whose process died are claimed one by one, so that no other row is lost with them.
    let limit = isJob ? 1 : EVENTS_PER_CLAIM_MAX
    const claim = async () => {
      own.mayHaveDueJobs = false
      const claimed = await claims.claim(name, limit)
      // With fewer rows than asked for, nothing else is due, except behind them.
      if (claimed !== undefined && (claimed.rows.length === limit || claimed.rows.some(row => row.has_later)))
        own.mayHaveDueJobs = true
      return claimed
    }
    while (mustRun(own) && !signal.aborted) {
      await semaphore.acquire()
      try {
        if (signal.aborted) return
        const claimed = own.handover.take() ?? (await claim())
        if (claimed === undefined) continue
        if (claimed.rows.some(row => row.was_abandoned)) limit = 1
        if (mustRun(own)) startLoop(own, claims)
        await runner.handle(claimed)
      } finally {
        semaphore.release()
      }
    }
  }

  // Jitter, so that processes that start together do not keep polling at the same moment.
  const pauseFor = (milliseconds: number) =>
    delay(milliseconds * (0.75 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => {})

  /** Repeats `work` until the stop, also while the database does not answer. */
  async function repeat(milliseconds: number, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work()
      await pauseFor(milliseconds)
    }
  }

  return {
    attach: (name: string, handler: EventOrJobHandler): void => {
      if (attached.has(name)) throw new Error(`two handlers are called ${name}`)
      const concurrency = concurrencyOf(handler)
      const semaphore = concurrency > 1 ? createSemaphore(concurrency) : sharedSemaphores[kindOf(handler)]
      const handover = createJobHandover(name, { isBatched: 'handleEvents' in handler })
      attached.set(name, {
        name,
        handler,
        handover,
        semaphore,
        mayHaveDueJobs: false,
        askedAt: Number.NEGATIVE_INFINITY,
        claimLoops: new Set(),
        followUps: new Set()
      })
    },
    wake,
    /**
     * Returns the lease with which a new job is inserted, so that it is run without a claim. Undefined when the handler is
     * busy, because jobs that wait are claimed together.
     */
    leaseForNewJob: (name: string): HandoverLease | undefined => {
      const found = attached.get(name)
      if (running === undefined || signal.aborted || found === undefined) return undefined
      return found.claimLoops.size === 0 && found.semaphore.isFree() ? found.handover.newLease() : undefined
    },
    /** Runs a committed job that was inserted with this lease. */
    handOver: (name: string, lease: HandoverLease, row: ClaimedJob): void => {
      const found = attached.get(name)
      // After the stop another process claims it when the lease ends.
      if (running === undefined || found === undefined) return
      const added = found.handover.add(lease, row)
      if (added !== undefined) running.claims.adopt(added)
      startLoop(found, running.claims)
    },
    start: (): void => {
      const claims = createOutboxJobClaims(db, log)
      const names = [...attached.keys()]
      const schedules = [...attached.values()]
        .filter(({ handler }) => 'runJob' in handler && handler.intervalSeconds !== undefined)
        .map(({ name }) => createRecurringJobSchedule(name))
      let areSchedulesPlanned = schedules.length === 0
      const poll = async () => {
        if (!areSchedulesPlanned) areSchedulesPlanned = await claims.ensureSchedules(schedules)
        for (const { handler: name, is_schedule } of await claims.findHandlersWithDueJobs(names))
          if (is_schedule) wakeIfWork(attached.get(name) as AttachedHandler)
          else wake(name)
      }
      const measureBacklog = async () => backlog.set(await claims.postponeAndMeasure())
      running = {
        claims,
        loops: [
          // Not at the start, because it needs the connection of claims.
          pauseFor(BACKLOG_MS).then(() => repeat(BACKLOG_MS, measureBacklog)),
          ...(names.length > 0 ? [repeat(POLL_MS, poll), repeat(RENEW_MS, claims.renewAll)] : [])
        ]
      }
    },
    stop: async (): Promise<void> => {
      stopping.abort()
      if (running === undefined) return
      const { claims, loops } = running
      running = undefined
      const untilHandled = async () => {
        await Promise.all([...attached.values()].flatMap(({ claimLoops }) => [...claimLoops]))
        await Promise.all([...attached.values()].flatMap(({ followUps }) => [...followUps]))
      }
      await Promise.race([Promise.all([...loops, untilHandled()]), delay(STOP_MS, undefined, { ref: false })])
      await claims.close()
    }
  }
}

const mustRun = ({ mayHaveDueJobs, handover }: AttachedHandler): boolean =>
  mayHaveDueJobs || !handover.isEmpty()

const concurrencyOf = (handler: EventOrJobHandler): number =>
  'runJob' in handler ? (handler.concurrency ?? 1) : 1

function kindOf(handler: EventOrJobHandler): 'event' | 'external' | 'quick' | 'long' {
  if ('handleEvents' in handler) return 'event'
  if (handler.callsExternalService) return 'external'
  return handler.timeoutSeconds > QUICK_SECONDS ? 'long' : 'quick'
}
