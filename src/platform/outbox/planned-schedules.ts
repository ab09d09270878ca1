import type { Database } from '../postgres/database.ts'
import { placesOfSchedules } from './claims.ts'
import { newSchedule } from './dispatcher.ts'
import type { Outbox } from './outbox.ts'
import { ensureSchedules } from './rows.ts'

/** Wraps an outbox to record the interval of each recurring job, in seconds. */
export const noting = (intervals: Map<string, number>, outbox: Outbox): Outbox => ({
  ...outbox,
  attach: (name, handler) => {
    if ('runJob' in handler && handler.intervalSeconds !== undefined)
      intervals.set(name, handler.intervalSeconds)
    outbox.attach(name, handler)
  }
})

/** Plans the first run of each job after its interval, unless it is planned already. */
export async function planSchedules(db: Database, intervals: ReadonlyMap<string, number>): Promise<void> {
  const schedules = [...intervals].map(([name, seconds]) => newSchedule(name, seconds))
  await db.run(ensureSchedules, placesOfSchedules(schedules))
}
