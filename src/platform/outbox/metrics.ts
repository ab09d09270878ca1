import type { Metrics } from '../metrics/registry.ts'

const ATTEMPT_RESULTS = ['done', 'failed', 'dead', 'given_back'] as const
export type JobAttemptResult = (typeof ATTEMPT_RESULTS)[number]
export type OutboxBacklog = { pending: number; dead: number; oldest_seconds: number }

/** Counts attempts to handle events and jobs, by result. */
export function createJobAttemptMetricCounter(metrics: Metrics) {
  const deliveries = metrics.counter('events_deliveries', 'Attempts to handle events and jobs, by result.', {
    result: ATTEMPT_RESULTS
  })
  return (result: JobAttemptResult, amount = 1) => deliveries.add({ result }, amount)
}

/** Reports the backlog of the whole shop, which each process measures every 10 s. */
export function createOutboxBacklogGauges(metrics: Metrics) {
  let backlog: OutboxBacklog = { pending: 0, dead: 0, oldest_seconds: 0 }
  const gauge = (name: string, help: string, key: keyof OutboxBacklog) =>
    metrics.shopGauge(name, help, () => backlog[key])
  gauge('events_pending', 'Events and jobs waiting to be handled.', 'pending')
  gauge('events_dead', 'Events and jobs that failed permanently.', 'dead')
  gauge('events_oldest_seconds', 'Age of the oldest waiting event or job, in seconds.', 'oldest_seconds')
  return {
    set: (measured: OutboxBacklog | undefined) => {
      if (measured !== undefined) backlog = measured
    }
  }
}
