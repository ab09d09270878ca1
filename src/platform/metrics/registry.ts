/** All values of each label, so the number of series is known at declaration. */
type Labels = Readonly<Record<string, readonly string[]>>
type Chosen<L extends Labels> = { readonly [K in keyof L]: L[K][number] }

type Counter<L extends Labels> = { add(labels: Chosen<L>, amount?: number): void }
type Histogram<L extends Labels> = { observe(labels: Chosen<L>, value: number): void }

type DeclareGauge = <const L extends Labels>(
  name: string,
  help: string,
  read: (labels: Chosen<L>) => number,
  labels?: L
) => void

/** Declares metrics of this process. Counters are named `cartwright_<name>_total`, others `cartwright_<name>`. */
export type Metrics = {
  counter<const L extends Labels>(name: string, help: string, labels: L): Counter<L>
  /** `bounds`: upper bounds of its buckets, ascending. */
  histogram<const L extends Labels>(
    name: string,
    help: string,
    labels: L,
    bounds: readonly number[]
  ): Histogram<L>
  /** A gauge of this process, read at each scrape for each combination of labels. Those of several workers are added. */
  gauge: DeclareGauge
  /** A gauge of the whole shop, which each process measures. Of several workers the highest value counts. */
  shopGauge: DeclareGauge
  /** A counter that is kept elsewhere and read at each scrape. */
  total(name: string, help: string, read: () => number, labels?: Readonly<Record<string, string>>): void
  /** Returns a registry whose names begin with `<prefix>_`. */
  prefixed(prefix: string): Metrics
}

type Sample = { labels: Readonly<Record<string, string>>; value: number; suffix?: string }
/** A metric, for the exposition. */
export type Metric = {
  type: 'counter' | 'gauge' | 'histogram'
  name: string
  help: string
  /** How the values of several workers become one. Default: `sum`. */
  aggregator?: 'sum' | 'max'
  samples(): Sample[]
}
export type MetricRegistry = Metrics & { all(): readonly Metric[] }

const SERIES_MAX = 200

export function createMetricRegistry(): MetricRegistry {
  const metrics = new Map<string, Metric>()
  const declare = (metric: Metric) => {
    if (metrics.has(metric.name)) throw new Error(`the metric ${metric.name} is declared twice`)
    metrics.set(metric.name, metric)
  }
  return { ...withPrefix('cartwright', declare), all: () => [...metrics.values()] }
}

function withPrefix(prefix: string, declare: (metric: Metric) => void): Metrics {
  const gauge =
    (aggregator: 'sum' | 'max'): DeclareGauge =>
    (given, help, read, labels) => {
      const name = `${prefix}_${given}`
      const series = seriesOf(name, labels ?? {}, () => ({}))
      declare({
        type: 'gauge',
        name,
        help,
        aggregator,
        samples: () =>
          series.all.map(each => ({
            labels: each.labels,
            value: read(each.labels as Parameters<typeof read>[0])
          }))
      })
    }
  return {
    counter: (given, help, labels) => {
      const name = `${prefix}_${given}_total`
      const series = seriesOf(name, labels, () => ({ value: 0 }))
      declare({
        type: 'counter',
        name,
        help,
        samples: () => series.all.map(each => ({ labels: each.labels, value: each.value }))
      })
      return {
        add: (chosen, amount = 1) => {
          const found = series.find(chosen)
          if (found !== undefined) found.value += amount
        }
      }
    },
    histogram: (given, help, labels, bounds) => {
      const name = `${prefix}_${given}`
      const series = seriesOf(name, labels, () => ({ counts: bounds.map(() => 0), count: 0, sum: 0 }))
      declare({
        type: 'histogram',
        name,
        help,
        samples: () => series.all.flatMap(each => histogramSamples(each, bounds))
      })
      return {
        observe: (chosen, value) => {
          const found = series.find(chosen)
          if (found === undefined) return
          const bucket = bounds.findIndex(bound => value <= bound)
          if (bucket >= 0) found.counts[bucket] = (found.counts[bucket] ?? 0) + 1
          found.count += 1
          found.sum += value
        }
      }
    },
    gauge: gauge('sum'),
    shopGauge: gauge('max'),
    total: (name, help, read, labels = {}) =>
      declare({
        type: 'counter',
        name: `${prefix}_${name}_total`,
        help,
        samples: () => [{ labels, value: read() }]
      }),
    prefixed: more => withPrefix(`${prefix}_${more}`, declare)
  }
}

/**
 * Creates a series for each combination of values at declaration, so that a count without events is 0 and not absent. An
 * undeclared value is ignored, so that no metric breaks a request.
 */
function seriesOf<T>(name: string, labels: Labels, start: () => T) {
  let combinations: Record<string, string>[] = [{}]
  for (const [label, values] of Object.entries(labels))
    combinations = combinations.flatMap(each => values.map(value => ({ ...each, [label]: value })))
  if (combinations.length > SERIES_MAX)
    throw new Error(`the metric ${name} has ${combinations.length} series; ${SERIES_MAX} are the most`)

  const names = Object.keys(labels)
  const keyOf = (chosen: Readonly<Record<string, string>>) => {
    let key = ''
    for (const name of names) key += `${chosen[name]}\0`
    return key
  }
  const all = combinations.map(each => ({ ...start(), labels: each }))
  const byKey = new Map(all.map(each => [keyOf(each.labels), each]))
  return { all, find: (chosen: Readonly<Record<string, string>>) => byKey.get(keyOf(chosen)) }
}

type Counted = { labels: Record<string, string>; counts: readonly number[]; count: number; sum: number }

function histogramSamples({ labels, counts, count, sum }: Counted, bounds: readonly number[]): Sample[] {
  let below = 0
  const buckets = bounds.map((bound, index) => {
    below += counts[index] ?? 0
    return { labels: { ...labels, le: String(bound) }, value: below, suffix: '_bucket' }
  })
  return [
    ...buckets,
    { labels: { ...labels, le: '+Inf' }, value: count, suffix: '_bucket' },
    { labels, value: sum, suffix: '_sum' },
    { labels, value: count, suffix: '_count' }
  ]
}
