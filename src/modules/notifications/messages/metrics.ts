import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { measureNotificationBacklog } from './repository.ts'

/** Gauges of the messages in the database, which are those of all processes. `measure` updates them. */
export function createNotificationMetrics(metrics: Metrics, db: Queryable) {
  let measured = { pending: 0, dead: 0, oldest_seconds: 0 }
  const gauge = (name: string, help: string, key: keyof typeof measured) =>
    metrics.shopGauge(name, help, () => measured[key])
  gauge('pending', 'Messages waiting to be sent.', 'pending')
  gauge('dead', 'Messages that failed permanently.', 'dead')
  gauge('oldest_seconds', 'Age of the oldest waiting message, in seconds.', 'oldest_seconds')
  return {
    measure: async (): Promise<number> => {
      measured = (await db.first(measureNotificationBacklog)) ?? measured
      return 0
    }
  }
}
