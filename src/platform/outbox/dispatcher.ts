import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { derivedId, FIRST_ID, newId } from '../../kernel/ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../postgres/database.ts'
import { type Claims, createClaims, type Schedule } from './claims.ts'
import { createDelivery } from './delivery.ts'
import { countDeliveries, createBacklogFigures } from './figures.ts'
import type { Handler } from './handlers.ts'
import { createPlaces } from './places.ts'

export type DispatcherDeps = { db: Database; log: Log; metrics: Metrics }

const POLL_MS = 1_000
const LOOK_MS = 10_000
/** So many of a kind at once in one process: most connections are for requests, and what takes long holds up its kind only. */
const AT_ONCE_MAX = 2
const QUICK_SECONDS = 60
const ROWS_A_CLAIM = 200
/** Several times within the length of a lease. */
const RENEW_MS = 3_000
const STOP_MS = 5_000

type Attached = {
  name: string
  handler: Handler
  isWanted: boolean
  /** One for each that it has done at this moment, and at most one more that looks for another. */
  readonly pumps: Set<Promise<void>>
  /** Where it may be done: with others of its kind, or, if several of it may be done at once, in places of its own. */
  readonly places: ReturnType<typeof createPlaces>
}

/** The row of a job that has a schedule: one for all processes. */
export const newSchedule = (handler: string): Schedule => ({
  handler,
  subject: derivedId(FIRST_ID, handler),
  eventId: newId()
})

/** Claims what there is to do and has it done. Whoever writes something wakes this process; polling finds the rest. */
export function createDispatcher({ db, log, metrics }: DispatcherDeps) {
  const attached = new Map<string, Attached>()
  const stopping = new AbortController()
  const { signal } = stopping
  const backlog = createBacklogFigures(metrics)
  const count = countDeliveries(metrics)
  const places = {
    consumer: createPlaces(AT_ONCE_MAX),
    asking: createPlaces(AT_ONCE_MAX),
    quick: createPlaces(AT_ONCE_MAX),
    long: createPlaces(AT_ONCE_MAX)
  }
  let running: { claims: Claims; loops: Promise<void>[] } | undefined
  /** Handlers run in the asynchronous context of the dispatcher: an uncaught error in one is not that of a request. */
  const inOwnContext = AsyncLocalStorage.snapshot()

  function wake(name: string): void {
    const found = attached.get(name)
    if (running === undefined || found === undefined || signal.aborted) return
    found.isWanted = true
    const { handler, pumps } = found
    if (pumps.size >= atOnceOf(handler)) return
    const { claims } = running
    const pumping = inOwnContext(() => pump(found, claims)).finally(() => {
      pumps.delete(pumping)
      if (found.isWanted) wake(name)
    })
    pumps.add(pumping)
  }

  /** Goes on as long as there is something to claim. */
  async function pump(own: Attached, claims: Claims): Promise<void> {
    const { name, handler, places } = own
    const isJob = 'run' in handler
    const delivery = createDelivery({ db, log, claims, count, signal, name, handler })
    const { take, give } = places
    // What its process died with is claimed one by one, until nothing is left: others do not die with it.
    let limit = isJob ? 1 : ROWS_A_CLAIM
    while (own.isWanted && !signal.aborted) {
      own.isWanted = false
      await take()
      try {
        const claimed = signal.aborted ? undefined : await claims.claim(name, limit)
        if (claimed === undefined) continue
        own.isWanted = true
        if (claimed.rows.some(row => row.was_abandoned)) limit = 1
        if (atOnceOf(handler) > 1) wake(name)
        await delivery.handle(claimed)
      } finally {
        give()
      }
    }
  }

  /** Runs `work` again and again until the stop; a database that does not answer is asked again. */
  async function repeat(milliseconds: number, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work()
      // Jitter, so that processes started together do not ask at the same instant for ever.
      await delay(milliseconds * (0.75 + Math.random() / 2), undefined, { signal, ref: false }).catch(
        () => {}
      )
    }
  }

  return {
    attach: (name: string, handler: Handler): void => {
      if (attached.has(name)) throw new Error(`two handlers are called ${name}`)
      const atOnce = atOnceOf(handler)
      const own = atOnce > 1 ? createPlaces(atOnce) : places[kindOf(handler)]
      attached.set(name, { name, handler, isWanted: false, pumps: new Set(), places: own })
    },
    wake,
    start: (): void => {
      const claims = createClaims(db, log)
      const names = [...attached.keys()]
      const schedules = [...attached.values()]
        .filter(({ handler }) => 'run' in handler && handler.everySeconds !== undefined)
        .map(({ name }) => newSchedule(name))
      const poll = async () => {
        while (schedules[0] !== undefined && (await claims.ensure(schedules[0]))) schedules.shift()
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

const atOnceOf = (handler: Handler): number => ('run' in handler ? (handler.atOnce ?? 1) : 1)

function kindOf(handler: Handler): 'consumer' | 'asking' | 'quick' | 'long' {
  if ('consume' in handler) return 'consumer'
  if (handler.asksOthers) return 'asking'
  return handler.seconds > QUICK_SECONDS ? 'long' : 'quick'
}
