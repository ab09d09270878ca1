import type { Metrics } from '../metrics/registry.ts'

const RESULTS = ['done', 'failed', 'dead', 'given_back'] as const
export type DeliveryResult = (typeof RESULTS)[number]
export type Backlog = { pending: number; dead: number; oldest_seconds: number }

/** What became of tries. */
export function countDeliveries(metrics: Metrics) {
  const deliveries = metrics.counter('events_deliveries', 'Attempts to handle events and jobs, by result.', {
    result: RESULTS
  })
  return (result: DeliveryResult, amount = 1) => deliveries.add({ result }, amount)
}

/** What waits, of all processes; measured every 10 s. */
export function createBacklogMetrics(metrics: Metrics) {
  let backlog: Backlog = { pending: 0, dead: 0, oldest_seconds: 0 }
  const gauge = (name: string, help: string, key: keyof Backlog) =>
    metrics.gauge(name, help, () => backlog[key])
  gauge('events_pending', 'Events and jobs waiting to be handled.', 'pending')
  gauge('events_dead', 'Events and jobs that failed permanently.', 'dead')
  gauge('events_oldest_seconds', 'Age of the oldest waiting event or job, in seconds.', 'oldest_seconds')
  return {
    set: (measured: Backlog | undefined) => {
      if (measured !== undefined) backlog = measured
    }
  }
}
