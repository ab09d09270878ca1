import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { readExposition } from '../../../test/support/exposition.ts'
import { browse, moduleOf, openGateway, useGateway } from '../../../test/support/gateway.ts'
import { OTLP_METRICS_SCHEMA } from '../../../test/support/otlp-metrics-schema.ts'
import { type ExportedMetrics, useTraceCollector } from '../../../test/support/trace-collector.ts'
import { createMetricsExposition } from '../../gateway/diagnostics/metrics.ts'

const WARNING = 'metrics could not be sent to the collector'

const routes = moduleOf('x', ['/api/x'], ({ public: open }) => {
  open.get('/x/:id', browse, async () => ({ ok: true }))
})

/** A gateway that sends its metrics to a collector every second. */
async function useMeasuredGateway(status = 200) {
  const collector = await useTraceCollector(status)
  const gateway = await useGateway({
    settings: { CARTWRIGHT__TRACING__URL: `${collector.url}/`, CARTWRIGHT__TRACING__METRICS_SECONDS: '1' },
    modules: [routes]
  })
  const { metrics, durations } = gateway.platform
  // Read without a request, which would be counted.
  const { expose } = createMetricsExposition(metrics, durations)
  return { ...gateway, expose, exports: collector.metrics }
}

const metricsOf = ({ resourceMetrics }: ExportedMetrics) =>
  resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
const labelsOf = (attributes: { key: string; value: { stringValue?: string } }[]) =>
  attributes.map(({ key, value }) => [key, value.stringValue])

/** An export as the lines of `/metrics` that it stands for. */
const linesOf = (sent: ExportedMetrics) =>
  metricsOf(sent).flatMap(({ name, gauge, sum, histogram }) => {
    const line = (suffix: string, labels: unknown[][], value: unknown) =>
      `${name}${suffix}${JSON.stringify(labels.sort())} ${value}`
    const numbers = (gauge ?? sum)?.dataPoints ?? []
    return [
      ...numbers.map(({ attributes, asDouble }) => line('', labelsOf(attributes), asDouble)),
      ...(histogram?.dataPoints ?? []).flatMap(point => {
        const labels = labelsOf(point.attributes)
        let total = 0
        return [
          ...(point.bucketCounts ?? []).map((count, index) => {
            total += Number(count)
            return line(
              '_bucket',
              [...labels, ['le', String(point.explicitBounds?.[index] ?? '+Inf')]],
              total
            )
          }),
          line('_sum', labels, point.sum),
          line('_count', labels, point.count)
        ]
      })
    ]
  })
const linesOfText = (text: string) =>
  [...readExposition(text).families.values()].flatMap(({ samples }) =>
    samples.map(
      ({ name, labels, value }) => `${name}${JSON.stringify(Object.entries(labels).sort())} ${value}`
    )
  )
/** These change while nothing happens. The exports count themselves after each export. */
const isConstant = (line: string) => !/^(?:process|nodejs)_|^cartwright_(?:db_pool|tracing)_/.test(line)

test('each metric of /metrics arrives at the collector with the same values, and conforms to OTLP', async () => {
  const { request, expose, exports, platform } = await useMeasuredGateway()
  platform.metrics
    .histogram('x_seconds', 'Time.', { by: ['air', 'sea'] }, [0.5, 5])
    .observe({ by: 'sea' }, 0.7)
  platform.metrics.gauge('x_limit', 'No limit.', () => Number.POSITIVE_INFINITY)
  for (const id of [1, 2]) await request('GET', `/api/x/${id}`)
  await request('GET', '/none')
  await eventually(async () => {
    const expected = linesOfText(await expose()).filter(isConstant)
    const [last] = exports.slice(-1)
    expect(last && linesOf(last).filter(isConstant).sort()).toEqual(expected.sort())
  })
  const [last] = exports.slice(-1) as [ExportedMetrics]
  expect(linesOf(last)).toContain(
    'http_request_duration_seconds_count[["method","GET"],["route","/api/x/:id"],["status","200"]] 2'
  )
  const names = [...readExposition(await expose()).families.keys()]
  expect(
    metricsOf(last)
      .map(({ name }) => name)
      .sort()
  ).toEqual(names.sort())

  const ajv = new Ajv({ allErrors: true })
  expect([ajv.validate(OTLP_METRICS_SCHEMA, last), ajv.errors]).toEqual([true, null])
  const [{ resource }] = last.resourceMetrics as [ExportedMetrics['resourceMetrics'][number]]
  expect(Object.fromEntries(labelsOf(resource.attributes))).toEqual({
    'service.name': 'cartwright',
    'service.instance.id': expect.stringMatching(/:\d+$/),
    'deployment.environment.name': 'development'
  })
  const unitOf = (name: string) => metricsOf(last).find(each => each.name === name)?.unit
  expect(
    [
      'cartwright_x_seconds',
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'cartwright_cache_hits_total'
    ].map(unitOf)
  ).toEqual(['s', 's', 'By', undefined])
})

test('the last values are sent when the shop stops', async () => {
  const collector = await useTraceCollector()
  const { request, close } = await openGateway({
    settings: { CARTWRIGHT__TRACING__URL: collector.url, CARTWRIGHT__TRACING__METRICS_SECONDS: '3600' },
    modules: [routes]
  })
  await request('GET', '/api/x/1')
  expect(collector.metrics).toEqual([])
  await close()
  expect(collector.metrics.map(linesOf)).toEqual([
    expect.arrayContaining([
      'http_request_duration_seconds_count[["method","GET"],["route","/api/x/:id"],["status","200"]] 1'
    ])
  ])
})

test('exports that the collector does not accept are counted and logged once, and requests succeed', async () => {
  const { request, expose, log } = await useMeasuredGateway(503)
  await eventually(async () =>
    expect(await expose()).toMatch(
      /^cartwright_tracing_metric_exports_total\{result="dropped"\} (?:[2-9]|\d\d+)$/m
    )
  )
  expect((await request('GET', '/api/x/1')).status).toBe(200)
  expect(log.filter(({ msg }) => msg === WARNING)).toHaveLength(1)
})

test('a collector that does not answer has one request at a time, and delays none of the shop', async () => {
  const { platform, request, log } = await useGateway({ modules: [routes] })
  const { startMetricsExport } = await import('./metrics-exporter.ts')
  const { promise: accepted, resolve: accept } = Promise.withResolvers<'exported'>()
  let requests = 0
  const stop = startMetricsExport(
    {
      collect: async () => [],
      send: () => {
        requests += 1
        return accepted
      },
      metrics: platform.metrics,
      resource: {}
    },
    0.001
  )
  await eventually(() => expect(requests).toBe(1))
  expect((await request('GET', '/api/x/1')).status).toBe(200)
  expect(requests).toBe(1)
  accept('exported')
  await eventually(() => expect(requests).toBeGreaterThan(2))
  await stop()
  expect(log.filter(({ msg }) => msg === WARNING)).toEqual([])
})
