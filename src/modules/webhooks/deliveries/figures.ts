import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { measureDeliveries } from './repository.ts'

/** What waits to be told, of all processes; `measure` looks again. */
export function createDeliveryFigures(metrics: Metrics, db: Queryable) {
  let figures = { pending: 0, dead: 0, oldest_seconds: 0 }
  const gauge = (name: string, help: string, key: keyof typeof figures) =>
    metrics.gauge(name, help, () => figures[key])
  gauge('pending', 'Webhooks that wait to be sent.', 'pending')
  gauge('dead', 'Webhooks that are not tried any more.', 'dead')
  gauge('oldest_seconds', 'How long the oldest webhook that waits has waited.', 'oldest_seconds')
  return {
    measure: async (): Promise<number> => {
      figures = (await db.first(measureDeliveries)) ?? figures
      return 0
    }
  }
}
