import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../postgres/database.ts'
import { findOldestUnpositionedEventAge } from './queries.ts'

/** Declares the metric of the event log. Returns a function that measures it for the whole shop. */
export function createEventLogGauge(metrics: Metrics, db: Pick<Database, 'first'>): () => Promise<void> {
  let seconds = 0
  metrics.shopGauge(
    'event_log_oldest_unpositioned_seconds',
    'Age of the oldest event that is not in the event feed yet, in seconds. 0 when every event has a position.',
    () => seconds
  )
  return async () => {
    seconds = (await db.first(findOldestUnpositionedEventAge))?.seconds ?? 0
  }
}
