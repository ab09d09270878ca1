import type { Registry } from '@prometheus-io/client'
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

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
/** Upper bounds of the duration histogram, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export type Metrics = {
  /** Counts one answered request. `route` is the pattern, not the path: the number of series stays bounded. */
  observe(method: string, route: string, status: number, seconds: number): void
  /** Everything in the Prometheus text format 0.0.4. */
  expose(): Promise<string>
  readonly contentType: string
}

/** Exposes what the platform and the modules have declared, the run time's figures, and the durations of requests. */
export function createMetrics(declared: Pick<MetricRegistry, 'all'>): Metrics {
  const durations = new Durations()
  let opening: Promise<Registry> | undefined
  // With all that it needs the library is 90 modules, which nobody has to wait for at start.
  const open = async (): Promise<Registry> => {
    const { collectDefaultMetrics, Registry } = await import('@prometheus-io/client')
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    for (const name of UNWANTED) registry.removeSingleMetric(name)
    registry.registerMetric(durations as never)
    return registry
  }
  const exposed = new Set<Metric>()
  return {
    observe: (method, route, status, seconds) => durations.observe(method, route, status, seconds),
    expose: async () => {
      opening ??= open()
      const registry = await opening
      for (const metric of declared.all()) {
        if (!exposed.has(metric)) registry.registerMetric(asMetric(metric) as never)
        exposed.add(metric)
      }
      return registry.metrics()
    },
    contentType: CONTENT_TYPE
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

type Series = { labels: Record<string, string | number>; counts: number[]; sum: number }

/**
 * The histogram of request durations, counted by hand and exposed by the library: an observation costs 0.2 us
 * instead of the library's 7 (2026-11), on every request there is.
 */
class Durations {
  readonly name = 'http_request_duration_seconds'
  readonly help = 'Duration of HTTP requests by method, route pattern and status.'
  readonly type = 'histogram'
  readonly #series = new Map<string, Map<number, Series>>()

  observe(method: string, route: string, status: number, seconds: number): void {
    const key = `${method} ${route}`
    let byStatus = this.#series.get(key)
    if (byStatus === undefined) {
      byStatus = new Map()
      this.#series.set(key, byStatus)
    }
    let series = byStatus.get(status)
    if (series === undefined) {
      series = { labels: { method, route, status }, counts: new Array(BUCKETS.length + 1).fill(0), sum: 0 }
      byStatus.set(status, series)
    }
    let bucket = 0
    while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] as number)) bucket += 1
    series.counts[bucket] = (series.counts[bucket] as number) + 1
    series.sum += seconds
  }

  /** What the library's registry asks of a metric. */
  get() {
    const all = [...this.#series.values()].flatMap(byStatus => [...byStatus.values()])
    return {
      name: this.name,
      help: this.help,
      type: this.type,
      values: all.flatMap(series => this.#lines(series))
    }
  }

  #lines({ labels, counts, sum }: Series) {
    let total = 0
    const buckets = counts.map((count, index) => {
      total += count
      return {
        labels: { ...labels, le: BUCKETS[index] ?? '+Inf' },
        value: total,
        metricName: `${this.name}_bucket`
      }
    })
    return [
      ...buckets,
      { labels, value: sum, metricName: `${this.name}_sum` },
      { labels, value: total, metricName: `${this.name}_count` }
    ]
  }
}
