import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { createPollPause } from '../../kernel/poll-pause.ts'
import type { Log } from '../log.ts'
import type { Database } from '../postgres/database.ts'
import {
  appendEventPositions,
  drawTransactionId,
  findUnpositionedEventsAndLogEnd,
  insertEventPositions
} from './queries.ts'
import { chooseNextEventLogBatch, type EventIdRange, type NextEventLogBatch } from './sequencing.ts'

export type EventLogSequencerDeps = {
  db: Pick<Database, 'first' | 'run'>
  log: Pick<Log, 'debug'>
  /** How long later events wait for an earlier one whose transaction is open. */
  waitSeconds: number
}
/** What a run leaves: more events to position now, events that wait for an open transaction, or nothing. */
type Remainder = 'more' | 'waiting' | 'nothing'

/** Commits within this time share a batch. */
const COALESCE_MS = 20
const WAITING_MS = 50
const EVENTS_PER_BATCH_MAX = 1_000

/**
 * Gives positions to committed events. Every process does so for its own commits, and polls for those of others. The
 * primary key of the batches lets one process extend the log at a time.
 */
export function createEventLogSequencer({ db, log, waitSeconds }: EventLogSequencerDeps) {
  const stopping = new AbortController()
  const { signal } = stopping
  /** Every transaction that drew an id up to this one has ended. */
  let endedId = 0
  /** The transaction `xid` is later than every transaction that drew an id up to `id`. */
  let witness: { id: number; xid: string } | undefined
  let running: Promise<Remainder> | undefined
  let following: Promise<Remainder> | undefined
  let isWoken = false
  /** Whether this process has committed events since the last run. Usually no other event is missing, and one statement is enough. */
  let hasOwnEvents = false
  let polling: Promise<void> | undefined
  const pause = createPollPause()
  /** So that the statements are not attributed to the request that woke it. */
  const inOwnContext = AsyncLocalStorage.snapshot()

  async function advanceOnce(): Promise<Remainder> {
    const mayAppend = hasOwnEvents && witness === undefined
    hasOwnEvents = false
    if (mayAppend && (await db.run(appendEventPositions, { limit: EVENTS_PER_BATCH_MAX })) > 0)
      return 'nothing'
    const found = await db.first(findUnpositionedEventsAndLogEnd, {
      witness: witness?.xid ?? null,
      limit: EVENTS_PER_BATCH_MAX
    })
    if (found === undefined) return 'nothing'
    if (found.ids.length > 0) pause.worked()
    const { next_position: firstPosition, last_id: lastId, ids, seconds, now_seconds: now } = found
    if (witness !== undefined && found.has_ended) {
      endedId = witness.id
      witness = undefined
    }
    const events = ids.map((id, at) => ({ id, ageSeconds: now - (seconds[at] ?? now) }))
    const state = { lastId, skipped: rangesOf(found.skipped_ids), events, endedId }
    const chosen = chooseNextEventLogBatch(state, waitSeconds)
    await observe(chosen, Math.max(lastId, ids.at(-1) ?? 0))
    const remainder = chosen.isWaiting ? 'waiting' : events.length < EVENTS_PER_BATCH_MAX ? 'nothing' : 'more'
    if (chosen.ids.length === 0) return remainder
    const times = timesOf(chosen.ids, ids, seconds, now)
    const inserted = await db.run(insertEventPositions, {
      firstPosition,
      ids: chosen.ids,
      lastId: chosen.lastId,
      skippedIds: chosen.skipped.flatMap(({ from, to }) => [from, to]),
      oldestSeconds: Math.min(...times),
      newestSeconds: Math.max(...times)
    })
    // Another process extended the log meanwhile.
    return inserted === 0 ? 'more' : remainder
  }

  /** Draws a witness while an id is missing, to find out when its transaction has ended. */
  async function observe({ skipped, isWaiting }: NextEventLogBatch, seenId: number): Promise<void> {
    if (witness !== undefined || (!isWaiting && skipped.length === 0)) return
    const drawn = await db.first(drawTransactionId)
    if (drawn !== undefined) witness = { id: seenId, xid: drawn.id }
  }

  function run(): Promise<Remainder> {
    running = inOwnContext(advanceOnce).finally(() => {
      running = undefined
    })
    return running
  }

  /** Gives positions to the events that are committed now. Simultaneous calls share a run. */
  function advance(): Promise<Remainder> {
    if (running === undefined) return run()
    following ??= running
      .catch(() => {})
      .then(() => {
        following = undefined
        return run()
      })
    return following
  }

  /** Advances until there is nothing left but events that wait. */
  async function catchUp(): Promise<void> {
    while (!signal.aborted) {
      const result = await advance().catch((error: unknown): Remainder => {
        log.debug({ err: error }, 'events get no positions')
        return 'nothing'
      })
      if (result === 'waiting') wake(WAITING_MS)
      if (result === 'waiting' || result === 'nothing') return
    }
  }

  /** Advances soon. */
  function wake(afterMs = COALESCE_MS): void {
    if (isWoken || polling === undefined || signal.aborted) return
    isWoken = true
    inOwnContext(async () => {
      await delay(afterMs, undefined, { signal, ref: false }).catch(() => {})
      isWoken = false
      await catchUp()
    })
  }

  async function poll(): Promise<void> {
    while (!signal.aborted) {
      await catchUp()
      await delay(pause.ms(), undefined, { signal, ref: false }).catch(() => {})
    }
  }

  return {
    advance,
    wake: () => {
      hasOwnEvents = true
      wake()
    },
    start: () => {
      polling ??= inOwnContext(poll)
    },
    stop: async () => {
      stopping.abort()
      await polling
      await Promise.all([running, following]).catch(() => {})
    }
  }
}
export type EventLogSequencer = ReturnType<typeof createEventLogSequencer>

function rangesOf(bounds: readonly number[]): EventIdRange[] {
  return bounds.flatMap((from, at) => (at % 2 === 0 ? [{ from, to: bounds[at + 1] ?? from }] : []))
}

/** Returns the times of the chosen events, in seconds since 1970. */
function timesOf(
  chosen: readonly number[],
  ids: readonly number[],
  seconds: readonly (number | null)[],
  now: number
): number[] {
  const timeOf = new Map(ids.map((id, at) => [id, seconds[at] ?? now]))
  return chosen.map(id => timeOf.get(id) ?? now)
}
