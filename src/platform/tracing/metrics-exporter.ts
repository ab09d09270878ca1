import type { Metrics } from '../metrics/registry.ts'
import type { CollectedMetric, MeasurableWorker } from '../worker-link.ts'
import { attributesJson, nanoseconds, type OtlpAttributes, type SendOtlp } from './otlp.ts'

type Sample = { labels: OtlpAttributes; value: number; metricName?: string }
type Deps = {
  collect: MeasurableWorker['collect']
  send: SendOtlp
  metrics: Metrics
  /** Attributes of this process. */
  resource: OtlpAttributes
}

/** Number of the protocol (opentelemetry-proto, `AggregationTemporality`). */
const CUMULATIVE = 2
const UNITS: readonly (readonly [suffix: RegExp, unit: string])[] = [
  [/_seconds(?:_total)?$/, 's'],
  [/_bytes(?:_total)?$/, 'By']
]

/**
 * Sends all metrics of this process to the collector every `seconds`, and when the returned function stops it. An export
 * that takes longer replaces the next one, so a slow collector costs one request.
 */
export function startMetricsExport({ collect, send, metrics, resource }: Deps, seconds: number) {
  const count = metrics.counter('metric_exports', 'Exports of all metrics to the collector, by result.', {
    result: ['exported', 'dropped']
  })
  const readBody = async () => {
    const all = (await collect()).map(metricJson)
    const scopeMetrics = [{ scope: { name: 'cartwright' }, metrics: all }]
    return { resourceMetrics: [{ resource: { attributes: attributesJson(resource) }, scopeMetrics }] }
  }
  let running: Promise<void> | undefined
  const exportOnce = async () => count.add({ result: await send(readBody) })
  const timer = setInterval(() => {
    running ??= exportOnce().finally(() => {
      running = undefined
    })
  }, seconds * 1_000).unref()
  return async (): Promise<void> => {
    clearInterval(timer)
    await running
    await exportOnce()
  }
}

/**
 * A metric of Prometheus in the data model of OpenTelemetry, as its specification "Prometheus and OpenMetrics
 * Compatibility" says. Names keep their suffixes, so that rules and dashboards find them in any backend.
 */
function metricJson({ name, help, type, values }: CollectedMetric) {
  const samples = values as readonly Sample[]
  const unit = UNITS.find(([suffix]) => suffix.test(name))?.[1]
  return {
    name,
    description: help,
    ...(unit !== undefined && { unit }),
    ...dataJson(type, samples),
    metadata: attributesJson({ 'prometheus.type': type })
  }
}

function dataJson(type: string, samples: readonly Sample[]) {
  const times = {
    startTimeUnixNano: nanoseconds(performance.timeOrigin * 1_000),
    timeUnixNano: nanoseconds(Date.now() * 1_000)
  }
  if (type === 'histogram')
    return { histogram: { aggregationTemporality: CUMULATIVE, dataPoints: histogramPoints(samples, times) } }
  const dataPoints = samples.map(({ labels, value }) => ({
    attributes: stringAttributes(labels),
    ...times,
    asDouble: doubleJson(value)
  }))
  if (type === 'counter')
    return { sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } }
  return { gauge: { dataPoints } }
}

/** Merges the samples of each series. The buckets of Prometheus are cumulative, those of OpenTelemetry are not. */
function histogramPoints(samples: readonly Sample[], times: object) {
  const series = Map.groupBy(samples, ({ labels: { le: _, ...own } }) =>
    JSON.stringify(stringAttributes(own))
  )
  return [...series].map(([key, own]) => {
    const valueAt = (suffix: string) => own.find(({ metricName }) => metricName?.endsWith(suffix))?.value ?? 0
    const buckets = own.filter(({ labels }) => labels.le !== undefined)
    return {
      attributes: JSON.parse(key),
      ...times,
      count: String(valueAt('_count')),
      sum: doubleJson(valueAt('_sum')),
      explicitBounds: buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite),
      bucketCounts: buckets.map(({ value }, index) => String(value - (buckets[index - 1]?.value ?? 0)))
    }
  })
}

/** Labels of Prometheus are text, also a status. */
const stringAttributes = (labels: OtlpAttributes) =>
  Object.entries(labels).map(([key, value]) => ({ key, value: { stringValue: String(value) } }))

/** JSON has no number for what is not finite. Protocol buffers write it as text. */
const doubleJson = (value: number) => (Number.isFinite(value) ? value : String(value))
