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

const NONE: OutboxBacklog = { pending: 0, dead: 0, oldest_seconds: 0 }

/** Reports the backlog of the whole shop, which one process measures every 10 s. */
export function createOutboxBacklogGauges(metrics: Metrics) {
  let backlog = NONE
  const gauge = (name: string, help: string, key: keyof OutboxBacklog) =>
    metrics.shopGauge(name, help, () => backlog[key])
  gauge('events_pending', 'Events and jobs waiting to be handled. 0 in all processes but one.', 'pending')
  gauge('events_dead', 'Events and jobs that failed permanently. 0 in all processes but one.', 'dead')
  gauge(
    'events_oldest_seconds',
    'Age of the oldest waiting event or job, in seconds. 0 in all processes but one.',
    'oldest_seconds'
  )
  return {
    /** Null: another process measures. Undefined: the database does not answer. */
    set: (measured: OutboxBacklog | null | undefined) => {
      if (measured !== undefined) backlog = measured ?? NONE
    }
  }
}
