import { setTimeout as delay } from 'node:timers/promises'
import type { Counter, Registry } from '@prometheus-io/client'
import type { Durations } from '../../platform/metrics/durations.ts'
import type { Metric, MetricRegistry } from '../../platform/metrics/registry.ts'

/** Of the library's own: names against the conventions, and figures that are none (`Nan`, 2^63) without a sample. */
const UNWANTED = [
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
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
export type Metrics = {
  /** Counts one answered request. `route` is the pattern, not the path: the number of series stays bounded. */
  observe(method: string, route: string, status: number, seconds: number): void
  /**
   * Everything in the Prometheus text format 0.0.4. It is rendered once a second at most: callers in between wait for the
   * next time and share it, so that a crowd of them costs as much as one, and none gets old figures.
   */
  expose(): Promise<string>
  readonly contentType: string
}

/** Exposes what the platform and the modules have declared, the run time's figures, and the durations of requests. */
export function createMetrics(declared: Pick<MetricRegistry, 'all'>, durations: Durations): Metrics {
  let opening: Promise<Registry> | undefined
  // With all that it needs the library is 90 modules, which nobody has to wait for at start.
  const open = async (): Promise<Registry> => {
    const { collectDefaultMetrics, Registry } = await import('@prometheus-io/client')
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    countEarlierCpu(registry)
    for (const name of UNWANTED) registry.removeSingleMetric(name)
    registry.registerMetric(durations as never)
    return registry
  }
  const exposed = new Set<Metric>()
  const render = async () => {
    opening ??= open()
    const registry = await opening
    for (const metric of declared.all()) {
      if (!exposed.has(metric)) registry.registerMetric(asMetric(metric) as never)
      exposed.add(metric)
    }
    return registry.metrics()
  }
  let renderedAt = Number.NEGATIVE_INFINITY
  let next: Promise<string> | undefined
  const renderNext = async () => {
    const waitMs = renderedAt + RENDER_INTERVAL_MS - performance.now()
    if (waitMs > 0) await delay(waitMs, undefined, { ref: false })
    renderedAt = performance.now()
    return render()
  }
  return {
    observe: (method, route, status, seconds) => durations.observe(method, route, status, seconds),
    expose: () => {
      next ??= renderNext().finally(() => {
        next = undefined
      })
      return next
    },
    contentType: CONTENT_TYPE
  }
}

/** The library counts from now on; the process has used CPU since it started. */
function countEarlierCpu(registry: Registry): void {
  const { user, system } = process.cpuUsage()
  const used = { user, system, total: user + system }
  for (const [name, microseconds] of Object.entries(used)) {
    const kind = name === 'total' ? '' : `${name}_`
    const counter = registry.getSingleMetric(`process_cpu_${kind}seconds_total`) as Counter | undefined
    counter?.inc(microseconds / 1_000_000)
  }
}

/** What the library's registry asks of a metric: read when somebody asks, nothing is kept twice. */
const asMetric = ({ type, name, help, samples }: Metric) => ({
  type,
  name,
  help,
  get: () => ({
    type,
    name,
    help,
    values: samples().map(({ labels, value, suffix }) =>
      suffix === undefined ? { labels, value } : { labels, value, metricName: `${name}${suffix}` }
    )
  })
})
