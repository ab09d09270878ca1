import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../postgres/database.ts'
import { findEventLogPositionsByIds } from './queries.ts'
import type { EventLogSequencer } from './sequencer.ts'

/** Where an event is in the log, and its versions. */
export type EventPositionAndVersions = {
  readonly position: number
  readonly payload_version: number
  readonly subject_version: number | null
}
/** An event has no position yet, because an earlier transaction is open. Its handler is tried again in a second. */
export class EventPositionPendingError extends Error {}

const WAIT_MS_MAX = 2_000
const PAUSE_MS = 25

/** Returns a function that finds the places of events by their id, and waits for those that were committed just now. */
export const createEventLogPlacesByIdReader =
  (db: Pick<Database, 'rows'>, { advance }: Pick<EventLogSequencer, 'advance'>) =>
  /** @throws EventPositionPendingError */
  async (ids: readonly number[]): Promise<ReadonlyMap<number, EventPositionAndVersions>> => {
    if (ids.length === 0) return new Map()
    const endsAt = performance.now() + WAIT_MS_MAX
    const smallestId = Math.min(...ids)
    for (;;) {
      const found = await db.rows(findEventLogPositionsByIds, { ids, smallestId })
      if (found.length === ids.length) return new Map(found.map(({ id, ...place }) => [id, place]))
      if (performance.now() > endsAt) throw new EventPositionPendingError('events have no position yet')
      if ((await advance()) === 'waiting') await delay(PAUSE_MS)
    }
  }
