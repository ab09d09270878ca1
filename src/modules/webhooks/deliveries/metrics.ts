import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { measureWebhookBacklog } from './repository.ts'

/** Gauges of the deliveries in the database, which are those of all processes. `measure` updates them. */
export function createWebhookMetrics(metrics: Metrics, db: Queryable) {
  let measured = { pending: 0, dead: 0, oldest_seconds: 0 }
  const gauge = (name: string, help: string, key: keyof typeof measured) =>
    metrics.shopGauge(name, help, () => measured[key])
  gauge('pending', 'Webhook deliveries waiting to be sent.', 'pending')
  gauge('dead', 'Webhook deliveries that failed permanently.', 'dead')
  gauge('oldest_seconds', 'Age of the oldest waiting webhook delivery, in seconds.', 'oldest_seconds')
  return {
    measure: async (): Promise<number> => {
      measured = (await db.first(measureWebhookBacklog)) ?? measured
      return 0
    }
  }
}
