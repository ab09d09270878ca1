import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { derivedId, FIRST_ID, newId } from '../../kernel/ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../postgres/database.ts'
import { createClaims, type OutboxClaims, type Schedule } from './claims.ts'
import { createDelivery } from './delivery.ts'
import type { Handler } from './handlers.ts'
import { countDeliveries, createBacklogMetrics } from './metrics.ts'
import { createPlaces } from './places.ts'

export type DispatcherDeps = { db: Database; log: Log; metrics: Metrics }

const POLL_MS = 1_000
const LOOK_MS = 10_000
/**
 * How many handlers of one kind run simultaneously in one process. It is small because most connections are for requests;
 * it counts by kind so that slow work delays only its own kind.
 */
const CONCURRENCY_MAX = 2
const QUICK_SECONDS = 60
const ROWS_A_CLAIM = 200
/** Several renewals fit into one lease. */
const RENEW_MS = 3_000
const STOP_MS = 5_000

type Attached = {
  name: string
  handler: Handler
  isWanted: boolean
  /** Loops that claim and handle: one for each running batch, and at most one that looks for more. */
  readonly pumps: Set<Promise<void>>
  /** Slots shared with handlers of its kind, or its own when the job declares a concurrency. */
  readonly places: ReturnType<typeof createPlaces>
}

/** The row of a recurring job, shared by all processes. */
export const newSchedule = (handler: string, pauseSeconds = 0): Schedule => ({
  handler,
  subject: derivedId(FIRST_ID, handler),
  eventId: newId(),
  pauseSeconds
})

/** Claims due rows and runs their handlers. A commit in this process wakes it; polling finds rows of other processes. */
export function createDispatcher({ db, log, metrics }: DispatcherDeps) {
  const attached = new Map<string, Attached>()
  const stopping = new AbortController()
  const { signal } = stopping
  const backlog = createBacklogMetrics(metrics)
  const count = countDeliveries(metrics)
  const places = {
    event: createPlaces(CONCURRENCY_MAX),
    external: createPlaces(CONCURRENCY_MAX),
    quick: createPlaces(CONCURRENCY_MAX),
    long: createPlaces(CONCURRENCY_MAX)
  }
  let running: { claims: OutboxClaims; loops: Promise<void>[] } | undefined
  /** Handlers run in the async context of the dispatcher, so an uncaught error is not attributed to a request. */
  const inOwnContext = AsyncLocalStorage.snapshot()

  function wake(name: string): void {
    const found = attached.get(name)
    if (running === undefined || found === undefined || signal.aborted) return
    found.isWanted = true
    const { handler, pumps } = found
    if (pumps.size >= concurrencyOf(handler)) return
    const { claims } = running
    const pumping = inOwnContext(() => pump(found, claims)).finally(() => {
      pumps.delete(pumping)
      if (found.isWanted) wake(name)
    })
    pumps.add(pumping)
  }

  /** Claims and handles until nothing is due. */
  async function pump(own: Attached, claims: OutboxClaims): Promise<void> {
    const { name, handler, places } = own
    const isJob = 'runJob' in handler
    const delivery = createDelivery({ db, log, claims, count, signal, name, handler })
    const { take, give } = places
    // Rows whose process died are claimed one by one, so that no other row is lost with them.
    let limit = isJob ? 1 : ROWS_A_CLAIM
    while (own.isWanted && !signal.aborted) {
      own.isWanted = false
      await take()
      try {
        const claimed = signal.aborted ? undefined : await claims.claim(name, limit)
        if (claimed === undefined) continue
        own.isWanted = true
        if (claimed.rows.some(row => row.was_abandoned)) limit = 1
        if (concurrencyOf(handler) > 1) wake(name)
        await delivery.handle(claimed)
      } finally {
        give()
      }
    }
  }

  /** Repeats `work` until the stop, also while the database does not answer. */
  async function repeat(milliseconds: number, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work()
      // Jitter, so that processes that start together do not keep polling at the same moment.
      await delay(milliseconds * (0.75 + Math.random() / 2), undefined, { signal, ref: false }).catch(
        () => {}
      )
    }
  }

  return {
    attach: (name: string, handler: Handler): void => {
      if (attached.has(name)) throw new Error(`two handlers are called ${name}`)
      const concurrency = concurrencyOf(handler)
      const own = concurrency > 1 ? createPlaces(concurrency) : places[kindOf(handler)]
      attached.set(name, { name, handler, isWanted: false, pumps: new Set(), places: own })
    },
    wake,
    start: (): void => {
      const claims = createClaims(db, log)
      const names = [...attached.keys()]
      const schedules = [...attached.values()]
        .filter(({ handler }) => 'runJob' in handler && handler.intervalSeconds !== undefined)
        .map(({ name }) => newSchedule(name))
      let areEnsured = schedules.length === 0
      const poll = async () => {
        if (!areEnsured) areEnsured = await claims.ensure(schedules)
        for (const name of await claims.findDue(names)) wake(name)
      }
      const look = async () => backlog.set(await claims.look())
      running = {
        claims,
        loops: [
          repeat(LOOK_MS, look),
          ...(names.length > 0 ? [repeat(POLL_MS, poll), repeat(RENEW_MS, claims.renew)] : [])
        ]
      }
    },
    stop: async (): Promise<void> => {
      stopping.abort()
      if (running === undefined) return
      const { claims, loops } = running
      running = undefined
      const pumps = [...attached.values()].flatMap(({ pumps: all }) => [...all])
      await Promise.race([Promise.all([...loops, ...pumps]), delay(STOP_MS, undefined, { ref: false })])
      await claims.close()
    }
  }
}

const concurrencyOf = (handler: Handler): number => ('runJob' in handler ? (handler.concurrency ?? 1) : 1)

function kindOf(handler: Handler): 'event' | 'external' | 'quick' | 'long' {
  if ('handleEvents' in handler) return 'event'
  if (handler.callsExternalService) return 'external'
  return handler.timeoutSeconds > QUICK_SECONDS ? 'long' : 'quick'
}
