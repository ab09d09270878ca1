import { expect, test } from 'vitest'
import { createMetricRegistry } from './registry.ts'

const samplesOf = (registry: ReturnType<typeof createMetricRegistry>, name: string) =>
  registry
    .all()
    .find(metric => metric.name === name)
    ?.samples()

test('a counter metric exports every declared series from the start and increments only the named one', () => {
  const registry = createMetricRegistry()
  const merges = registry.counter('merges', 'Merges.', { strategy: ['sum', 'max'], done: ['yes', 'no'] })
  merges.add({ strategy: 'max', done: 'no' })
  merges.add({ done: 'no', strategy: 'max' }, 4)
  expect(samplesOf(registry, 'cartwright_merges_total')).toEqual([
    { labels: { strategy: 'sum', done: 'yes' }, value: 0 },
    { labels: { strategy: 'sum', done: 'no' }, value: 0 },
    { labels: { strategy: 'max', done: 'yes' }, value: 0 },
    { labels: { strategy: 'max', done: 'no' }, value: 5 }
  ])
})

test('an undeclared label value of a metric fails to compile and adds no series', () => {
  const registry = createMetricRegistry()
  const visits = registry.counter('visits', 'Visits.', { from: ['web'] })
  // @ts-expect-error: an unbounded value
  visits.add({ from: '192.0.2.1' })
  // @ts-expect-error: a label is missing
  visits.add({})
  expect(samplesOf(registry, 'cartwright_visits_total')).toEqual([{ labels: { from: 'web' }, value: 0 }])
})

test('the buckets of a histogram metric are cumulative, and the last one counts every observation', () => {
  const registry = createMetricRegistry()
  const seconds = registry.histogram('import_seconds', 'Imports.', { mode: ['a'] }, [0.1, 1])
  for (const value of [0.1, 0.5, 2]) seconds.observe({ mode: 'a' }, value)
  const values = samplesOf(registry, 'cartwright_import_seconds')?.map(({ labels, value, suffix }) => [
    suffix,
    labels.le,
    value
  ])
  expect(values).toEqual([
    ['_bucket', '0.1', 1],
    ['_bucket', '1', 2],
    ['_bucket', '+Inf', 3],
    ['_sum', undefined, 2.6],
    ['_count', undefined, 3]
  ])
})

test('gauge and counter metrics with a source are read at each scrape', () => {
  const registry = createMetricRegistry()
  let entries = 1
  const cache = registry.prefixed('cache')
  cache.gauge('entries', 'Entries.', () => entries, { adapter: ['memory'] })
  cache.total('hits', 'Hits.', () => entries * 2)
  entries = 7
  expect(samplesOf(registry, 'cartwright_cache_entries')).toEqual([
    { labels: { adapter: 'memory' }, value: 7 }
  ])
  expect(samplesOf(registry, 'cartwright_cache_hits_total')).toEqual([{ labels: {}, value: 14 }])
})

test('a metric declared with a duplicate name or more than 200 series is rejected', () => {
  const registry = createMetricRegistry()
  registry.gauge('level', 'Level.', () => 1)
  expect(() => registry.gauge('level', 'Level.', () => 2)).toThrow('cartwright_level is declared twice')
  const values = Array.from({ length: 20 }, (_, index) => String(index))
  expect(() => registry.counter('visits', 'Visits.', { a: values, b: values })).toThrow(
    'has 400 series; 200 are the most'
  )
})
