import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { adminModule } from '../src/modules/admin/index.ts'
import { formatTraceparent, parseTraceparent } from '../src/platform/tracing/trace-context.ts'
import { createTestDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { startProgram } from './support/program.ts'
import { type ExportedSpan, useTraceCollector } from './support/trace-collector.ts'
import { useWebhooks } from './support/webhooks.ts'

const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const PRODUCT = { name: 'Mug', slug: 'mug', variants: [{ sku: 'MUG', price: 1_000 }] }
const HANDLER = 'webhooks:catalog.product_changed'

const tracesFor = (url: string) => ({
  CARTWRIGHT__TRACING__URL: url,
  CARTWRIGHT__TRACING__SAMPLE_PERCENT: '0'
})

/** The spans from this one up to the root, by name. */
function pathTo(span: ExportedSpan | undefined, spans: readonly ExportedSpan[]): string[] {
  if (span === undefined) return []
  return [
    ...pathTo(
      spans.find(({ spanId }) => spanId === span.parentSpanId),
      spans
    ),
    span.name
  ]
}

test('a request, its statements, its event in the log, the handler, the job and the webhook are one trace', async () => {
  const collector = await useTraceCollector()
  const shop = await useWebhooks(tracesFor(collector.url), adminModule)
  const { admin, receiver } = shop
  await shop.subscribe({ event_types: ['catalog.product_changed'] })
  const traceparent = formatTraceparent({ ...PARENT, isSampled: true })
  expect((await admin.post('/api/catalog/products', PRODUCT, { traceparent })).status).toBe(201)
  await shop.waitForStatus('delivered')
  const spansOf = (name: string) => collector.spans.filter(span => span.name === name)
  await eventually(() => expect(spansOf('webhooks.send_due')).toHaveLength(1))
  const { spans } = collector
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([PARENT.traceId]))

  const request = 'POST /api/catalog/products'
  const [handled] = spansOf(HANDLER)
  expect(pathTo(handled, spans)).toEqual([request, 'transaction', HANDLER])
  expect(pathTo(spansOf('webhooks.send_due')[0], spans)).toEqual([
    request,
    'transaction',
    HANDLER,
    'webhooks.send_due'
  ])
  const [delivered] = spansOf('webhook catalog.product_changed')
  expect(pathTo(delivered, spans)).toEqual([request, 'transaction', 'webhook catalog.product_changed'])
  expect(parseTraceparent(receiver.received[0]?.headers.traceparent)).toEqual({
    traceId: PARENT.traceId,
    spanId: delivered?.spanId,
    isSampled: true
  })
  const written = spansOf('transaction').find(({ spanId }) => spanId === delivered?.parentSpanId)
  expect(written?.events.map(({ name }) => name)).toContain('outbox.insert_messages')
  const { json } = await admin.get('/api/admin/events/feed')
  expect(
    json.items.map((event: { name: string; traceparent?: string }) => [event.name, event.traceparent])
  ).toEqual([
    [
      'catalog.product_changed',
      formatTraceparent({ traceId: PARENT.traceId, spanId: written?.spanId ?? '', isSampled: true })
    ]
  ])
})

test('a webhook has no trace when its request is not recorded', async () => {
  const collector = await useTraceCollector()
  const shop = await useWebhooks(tracesFor(collector.url))
  const { admin, receiver } = shop
  await shop.subscribe()
  await shop.emitOrderPlaced()
  const traceparent = formatTraceparent({ ...PARENT, isSampled: true })
  await admin.post('/api/catalog/products', PRODUCT, { traceparent })
  await shop.waitForStatus('delivered', 2)
  const sent = receiver.received.map(({ body, headers }) => [JSON.parse(body).type, headers.traceparent])
  expect(Object.fromEntries(sent)).toEqual({
    'orders.placed': undefined,
    'catalog.product_changed': expect.stringContaining(PARENT.traceId)
  })
})

test('without a collector no trace is stored, and none leaves the shop', async () => {
  const shop = await useWebhooks({}, adminModule)
  const { admin, receiver } = shop
  await shop.subscribe()
  const traceparent = formatTraceparent({ ...PARENT, isSampled: true })
  await admin.post('/api/catalog/products', PRODUCT, { traceparent })
  await shop.waitForStatus('delivered')
  expect(receiver.received[0]?.headers).not.toHaveProperty('traceparent')
  expect((await admin.get('/api/admin/events/feed')).json.items[0]).not.toHaveProperty('traceparent')
  expect(await shop.sql('select from cartwright.traces')).toEqual([])
})

test('without a collector no module of traces is loaded, and without metrics_seconds none of the export of metrics', async () => {
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    const { openTestShop } = await import('./src/testing.ts')
    const shop = await openTestShop({ databaseUrl: process.argv[1], settings: JSON.parse(process.argv[2]) })
    await shop.close()
    console.log(JSON.stringify(loaded.filter(url => url.includes('/tracing/')).map(url => url.split('/').at(-1))))`
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const loadedWith = (settings: Record<string, string>): string[] =>
    JSON.parse(
      execFileSync(
        process.execPath,
        ['--input-type=module', '--eval', script, url, JSON.stringify(settings)],
        { cwd, encoding: 'utf8' }
      )
    )
  // The log shows the header `traceparent` of requests.
  expect(loadedWith({})).toEqual(['trace-context.ts'])
  const loaded = loadedWith(tracesFor('http://127.0.0.1:9'))
  expect(loaded).toContain('tracer.ts')
  expect(loaded).not.toContain('metrics-exporter.ts')
  const withMetrics = { ...tracesFor('http://127.0.0.1:9'), CARTWRIGHT__TRACING__METRICS_SECONDS: '60' }
  expect(loadedWith(withMetrics)).toContain('metrics-exporter.ts')
})

test('each worker sends its own metrics to the collector', async () => {
  const collector = await useTraceCollector()
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const settings = { CARTWRIGHT__TRACING__METRICS_SECONDS: '1', CARTWRIGHT__SHOP__DEMO: 'off' }
  const program = startProgram(
    { ...tracesFor(collector.url), ...settings, DATABASE_URL: database.url },
    { args: ['start', '--workers', '2'] }
  )
  onTestFinished(async () => {
    program.child.kill('SIGTERM')
    await program.ended
  })
  const instances = () =>
    new Set(
      collector.metrics.flatMap(({ resourceMetrics }) =>
        resourceMetrics.map(
          ({ resource }) =>
            resource.attributes.find(({ key }) => key === 'service.instance.id')?.value.stringValue
        )
      )
    )
  await eventually(() => expect(instances().size).toBe(2))
})
