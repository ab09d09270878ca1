import { expect, test } from 'vitest'
import { readExposition } from '../../../test/support/exposition.ts'
import { browse, moduleOf, useGateway } from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { RequestDurationHistogram } from '../../platform/metrics/durations.ts'
import { createMetricRegistry } from '../../platform/metrics/registry.ts'
import { createMetricsExposition } from './metrics.ts'

shareShops()

const routes = moduleOf('x', ['/api/x'], ({ public: open }) => {
  open.get('/x/:id', browse, async () => ({ ok: true }))
  open.get('/x/bug', browse, async () => {
    throw new Error('a bug')
  })
})

test('/metrics is the Prometheus text format 0.0.4, and valid', async () => {
  const gateway = await useGateway({ modules: [routes] })
  for (const path of ['/api/x/1', '/api/x/2', '/api/x/bug', '/none', '/api/x/%ff'])
    await gateway.request('GET', path)
  const answer = await gateway.request('GET', '/metrics')
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  const { families, problems } = readExposition(answer.text)
  expect(problems).toEqual([])
  const names = [...families.keys()]
  for (const [what, pattern] of [
    ['runtime', /^nodejs_eventloop_lag_seconds$/],
    ['process', /^process_cpu_seconds_total$/],
    ['database pool', /^cartwright_db_pool_connections$/],
    ['HTTP durations', /^http_request_duration_seconds$/],
    ['cache', /^cartwright_cache_hits_total$/]
  ] as const) {
    expect(
      names.some(name => pattern.test(name)),
      what
    ).toBe(true)
  }
})

test('the first metrics scrape counts the CPU time that the process has used since it started', async () => {
  const gateway = await useGateway({ modules: [routes] })
  const { user, system } = process.cpuUsage()
  const { text } = await gateway.request('GET', '/metrics')
  const figure = (name: string) => Number(new RegExp(`^${name} ([\\d.]+)$`, 'm').exec(text)?.[1])
  expect(figure('process_cpu_user_seconds_total')).toBeGreaterThanOrEqual(user / 1_000_000)
  expect(figure('process_cpu_system_seconds_total')).toBeGreaterThanOrEqual(system / 1_000_000)
  expect(figure('process_cpu_seconds_total')).toBeGreaterThanOrEqual((user + system) / 1_000_000)
})

test('metrics are labeled by route pattern, and unknown paths share one label', async () => {
  const gateway = await useGateway({ modules: [routes, moduleOf('off', ['/api/off'], undefined, false)] })
  for (let id = 0; id < 30; id += 1) {
    await gateway.request('GET', `/api/x/${id}?q=${id}`)
    await gateway.request('GET', `/none/${id}`)
    await gateway.request('GET', `/api/x/%f${id % 10}`)
    await gateway.request('GET', `/api/off/${id}`)
  }
  const { families } = readExposition((await gateway.request('GET', '/metrics')).text)
  const counts = families
    .get('http_request_duration_seconds')
    ?.samples.filter(sample => sample.name.endsWith('_count'))
    .map(({ labels, value }) => [labels.method, labels.route, labels.status, value])
  expect(counts?.sort()).toEqual([
    ['GET', '/api/x/:id', '200', 30],
    ['GET', 'unknown', '400', 30],
    ['GET', 'unknown', '404', 30],
    ['GET', 'unknown', '503', 30]
  ])
})

test('the connection pool metrics in /metrics equal those in /metricsz', async () => {
  const gateway = await useGateway()
  const { families } = readExposition((await gateway.request('GET', '/metrics')).text)
  const { db_pool: pool } = (await gateway.request('GET', '/metricsz')).json
  const value = (name: string) => families.get(`cartwright_db_pool_${name}`)?.samples[0]?.value
  expect(value('max_connections')).toBe(pool.max_conns)
  expect(value('connections')).toBe(pool.total_conns)
  expect(value('acquires_total')).toBe(pool.acquire_count)
  expect(value('acquire_seconds_total')).toBeCloseTo(pool.acquire_duration_ms / 1_000, 6)
})

test('the cache metrics count cache hits and misses', async () => {
  const gateway = await useGateway()
  await gateway.platform.cache.get('absent')
  await gateway.platform.cache.set('present', 'x', 60)
  await gateway.platform.cache.get('present')
  await gateway.platform.cache.get('present')
  const { families } = readExposition((await gateway.request('GET', '/metrics')).text)
  const sample = (name: string) => families.get(`cartwright_cache_${name}`)?.samples[0]
  expect(sample('hits_total')).toMatchObject({ value: 2, labels: { adapter: 'memory' } })
  expect(sample('misses_total')?.value).toBe(1)
  expect(sample('entries')?.value).toBe(1)
})

test('metrics of modules are exposed, also when they are declared after the start', async () => {
  const gateway = await useGateway()
  const { metrics } = gateway.platform
  const sent = metrics.counter('x_sent', 'Letters.', { by: ['air', 'sea'] })
  metrics.histogram('x_seconds', 'Time.', { by: ['air'] }, [1, 5]).observe({ by: 'air' }, 2)
  await gateway.request('GET', '/metrics')
  metrics.gauge('x_waiting', 'Letters that wait.', () => 3)
  sent.add({ by: 'sea' })
  const { families, problems } = readExposition((await gateway.request('GET', '/metrics')).text)
  expect(problems).toEqual([])
  expect(
    families.get('cartwright_x_sent_total')?.samples.map(({ labels, value }) => [labels.by, value])
  ).toEqual([
    ['air', 0],
    ['sea', 1]
  ])
  expect(families.get('cartwright_x_seconds')?.type).toBe('histogram')
  expect(families.get('cartwright_x_waiting')?.samples[0]?.value).toBe(3)
})

test('simultaneous scrapes of /metrics share one rendering, which is cached for a second', async () => {
  let renderings = 0
  const registry = createMetricRegistry()
  registry.gauge('renderings', 'Renderings so far.', () => {
    renderings += 1
    return renderings
  })
  const { expose } = createMetricsExposition(registry, new RequestDurationHistogram())
  const first = await expose()
  const startedAt = performance.now()
  const texts = await Promise.all(Array.from({ length: 100 }, expose))
  expect(renderings).toBe(2)
  expect(first).toContain('cartwright_renderings 1')
  expect(new Set(texts).size).toBe(1)
  expect(texts[0]).toContain('cartwright_renderings 2')
  // Timers may be a little early.
  expect(performance.now() - startedAt).toBeGreaterThan(900)
})
