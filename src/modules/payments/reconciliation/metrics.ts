import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { PaymentReconciliationResponse } from './routes.ts'

/**
 * Declares gauges of how far the shop and its providers agree. Those of operations and events are the same in all processes.
 * Returns a function that reads them, and returns 0, as timers expect.
 */
export function createPaymentReconciliationMetrics(
  metrics: Metrics,
  readStatus: () => Promise<PaymentReconciliationResponse>
): () => Promise<number> {
  let status: PaymentReconciliationResponse = {
    providers: [],
    open_operations: 0,
    oldest_seconds: 0,
    events: { received: 0, quarantined: 0 }
  }
  metrics.shopGauge(
    'open_operations',
    'Payments, captures, voids and refunds without a result from their provider.',
    () => status.open_operations
  )
  metrics.shopGauge(
    'open_operations_oldest_seconds',
    'Age of the oldest of these operations, in seconds.',
    () => status.oldest_seconds
  )
  metrics.shopGauge(
    'quarantined_events',
    'Events of payment providers that contradict the shop and wait for a decision of an administrator.',
    () => status.events.quarantined
  )
  metrics.gauge(
    'providers_down',
    'Payment providers to which recent requests of this process failed.',
    () => status.providers.filter(({ is_down }) => is_down).length
  )
  return async () => {
    status = await readStatus()
    return 0
  }
}
