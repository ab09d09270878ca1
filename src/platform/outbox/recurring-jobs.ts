import type { Database } from '../postgres/database.ts'
import { recurringScheduleInsertParameters } from './claims.ts'
import { createRecurringJobSchedule } from './dispatcher.ts'
import { insertMissingSchedules } from './job-queries.ts'
import type { Outbox } from './outbox.ts'

/** Wraps an outbox to record the interval of each recurring job, in seconds. */
export const outboxRecordingJobIntervals = (intervals: Map<string, number>, outbox: Outbox): Outbox => ({
  ...outbox,
  attachHandler: (name, handler) => {
    if ('runJob' in handler && handler.intervalSeconds !== undefined)
      intervals.set(name, handler.intervalSeconds)
    outbox.attachHandler(name, handler)
  }
})

/** Plans the first run of each job after its interval, unless it is planned already. */
export async function planRecurringJobs(db: Database, intervals: ReadonlyMap<string, number>): Promise<void> {
  const schedules = [...intervals].map(([name, seconds]) => createRecurringJobSchedule(name, seconds))
  const missing = recurringScheduleInsertParameters(schedules)
  await db.transaction(tx => tx.run(insertMissingSchedules, missing))
}
