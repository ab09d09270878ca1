import { expect, test } from 'vitest'
import { createMetricRegistry } from '../../../platform/metrics/registry.ts'
import { createPaymentReconciliationMetrics } from './metrics.ts'

test('metrics report open operations, quarantined events, and how many providers are down', async () => {
  const metrics = createMetricRegistry()
  const read = createPaymentReconciliationMetrics(metrics.prefixed('payments'), async () => ({
    providers: ['stripe', 'sandbox', 'manual'].map(name => ({ name, is_down: name !== 'manual' })),
    open_operations: 3,
    oldest_seconds: 90.5,
    events: { received: 7, quarantined: 4 }
  }))
  const values = () => metrics.all().map(({ name, samples }) => [name, samples()[0]?.value])
  expect(values().map(([, value]) => value)).toEqual([0, 0, 0, 0])
  expect(await read()).toBe(0)
  expect(values()).toEqual([
    ['cartwright_payments_open_operations', 3],
    ['cartwright_payments_open_operations_oldest_seconds', 90.5],
    ['cartwright_payments_quarantined_events', 4],
    ['cartwright_payments_providers_down', 2]
  ])
})
