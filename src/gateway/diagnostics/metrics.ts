import { setTimeout as delay } from 'node:timers/promises'
import type { Counter, Registry } from '@prometheus-io/client'
import type { RequestDurationHistogram } from '../../platform/metrics/durations.ts'
import type { Metric, MetricRegistry } from '../../platform/metrics/registry.ts'
import type { CollectedMetric, WorkerLink } from '../../platform/worker-link.ts'

/** Default metrics of the library with unconventional names, or without a sensible value (`Nan`, 2^63) before a sample. */
const EXCLUDED_METRICS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_lag_min_seconds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary'
]

const RENDER_INTERVAL_MS = 1_000
/** The type of the text that metrics are exposed as. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
export type MetricsExposition = {
  /** Counts one request. `route` is the pattern, not the path, so that the number of series stays bounded. */
  observe(method: string, route: string, status: number, seconds: number): void
  /**
   * Returns all metrics in the Prometheus text format 0.0.4. Renders once a second at most. Callers in between wait for the
   * next rendering and share it, so many callers cost as much as one, and none gets old values.
   */
  expose(): Promise<string>
  /** The metrics of this process, which the primary process adds to those of other workers. */
  collect(): Promise<CollectedMetric[]>
}

/**
 * Exposes the metrics of the platform and the modules, of the run time, and the durations of requests. `worker`: exposes those of
 * all workers.
 */
export function createMetricsExposition(
  declared: Pick<MetricRegistry, 'all'>,
  durations: RequestDurationHistogram,
  worker?: Pick<WorkerLink, 'exposeMetrics'>
): MetricsExposition {
  let opening: Promise<Registry> | undefined
  // Imported on first use, because the library loads 90 modules.
  const open = async (): Promise<Registry> => {
    const { collectDefaultMetrics, Registry } = await import('@prometheus-io/client')
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    countEarlierCpu(registry)
    // The library leaves it out of sums.
    const startTime = registry.getSingleMetric('process_start_time_seconds')
    if (startTime !== undefined) Object.assign(startTime, { aggregator: 'min' })
    for (const name of EXCLUDED_METRICS) registry.removeSingleMetric(name)
    registry.registerMetric(durations as never)
    return registry
  }
  const exposed = new Set<Metric>()
  const openWithDeclared = async () => {
    opening ??= open()
    const registry = await opening
    for (const metric of declared.all()) {
      if (!exposed.has(metric)) registry.registerMetric(asMetric(metric) as never)
      exposed.add(metric)
    }
    return registry
  }
  return {
    observe: (method, route, status, seconds) => durations.observe(method, route, status, seconds),
    expose: worker?.exposeMetrics ?? shareRenderings(async () => (await openWithDeclared()).metrics()),
    collect: async () => (await openWithDeclared()).getMetricsAsJSON() as Promise<CollectedMetric[]>
  }
}

/** Renders once a second at most. Callers in between wait for the next rendering and share it. */
export function shareRenderings(render: () => Promise<string>): () => Promise<string> {
  let renderedAt = Number.NEGATIVE_INFINITY
  let next: Promise<string> | undefined
  const renderNext = async () => {
    const waitMs = renderedAt + RENDER_INTERVAL_MS - performance.now()
    if (waitMs > 0) await delay(waitMs, undefined, { ref: false })
    renderedAt = performance.now()
    return render()
  }
  return () => {
    next ??= renderNext().finally(() => {
      next = undefined
    })
    return next
  }
}

/** Adds the CPU time from before the library was loaded, which it does not count. */
function countEarlierCpu(registry: Registry): void {
  const { user, system } = process.cpuUsage()
  const used = { user, system, total: user + system }
  for (const [name, microseconds] of Object.entries(used)) {
    const kind = name === 'total' ? '' : `${name}_`
    const counter = registry.getSingleMetric(`process_cpu_${kind}seconds_total`) as Counter | undefined
    counter?.inc(microseconds / 1_000_000)
  }
}

/** Adapts a metric to the library's registry, which reads its values on each rendering. */
const asMetric = ({ type, name, help, aggregator, samples }: Metric) => ({
  type,
  name,
  help,
  get: () => ({
    type,
    name,
    help,
    aggregator,
    values: samples().map(({ labels, value, suffix }) =>
      suffix === undefined ? { labels, value } : { labels, value, metricName: `${name}${suffix}` }
    )
  })
})
