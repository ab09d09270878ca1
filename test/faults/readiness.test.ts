import { expect, onTestFinished, test } from 'vitest'
import { openGatewayForShopModules, setUpShopModules, standardModules } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { openLog } from '../../src/platform/log.ts'
import { openPlatform } from '../../src/platform/platform.ts'
import { createTestApp, send, type TestApp } from '../support/app.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import { useProxiedDatabase } from './postgres-proxy.ts'
import { useRedisServer } from './redis-server.ts'
import { until } from './until.ts'

async function useApp(settings: Record<string, string>): Promise<TestApp> {
  const app = await createTestApp(settings)
  onTestFinished(() => app.close())
  return app
}

const readiness = async (app: Pick<TestApp, 'request'>) => {
  const startedAt = performance.now()
  const { status, json } = await app.request('GET', '/readyz')
  return { status, json, elapsed: performance.now() - startedAt }
}
const up = { status: 200, json: { status: 'READY', database: 'UP', cache: 'UP', redis: 'UP' } }
const redisDown = { status: 200, json: { status: 'READY', database: 'UP', cache: 'UP', redis: 'DOWN' } }
const databaseDown = {
  status: 503,
  json: { status: 'NOT_READY', database: 'DOWN', cache: 'UP', redis: null }
}

test('while Redis is down, /readyz returns 200 with redis: DOWN, and products are served', async () => {
  const redis = await useRedisServer()
  const app = await useApp({ REDIS_URL: `redis://127.0.0.1:${redis.port}` })
  expect(await readiness(app)).toMatchObject(redisDown)
  expect((await app.request('GET', '/api/products')).status).toBe(200)

  await redis.start()
  await until('Redis is reached', async () => (await readiness(app)).json.redis === 'UP')
  expect(await readiness(app)).toMatchObject(up)
  expect((await app.request('GET', '/api/products')).status).toBe(200)

  await redis.kill()
  expect(await readiness(app)).toMatchObject(redisDown)
  expect((await app.request('GET', '/api/products')).status).toBe(200)
})

test('while Redis hangs, /readyz responds within a second, and products are served', async () => {
  const redis = await useRedisServer()
  await redis.start()
  const app = await useApp({ REDIS_URL: `redis://127.0.0.1:${redis.port}` })
  await until('Redis is reached', async () => (await readiness(app)).json.redis === 'UP')
  redis.signal('SIGSTOP')
  const hung = await readiness(app)
  expect(hung).toMatchObject(redisDown)
  expect(hung.elapsed).toBeLessThan(1_000)
  for (let i = 0; i < 5; i += 1) expect((await app.request('GET', '/api/products')).status).toBe(200)
  redis.signal('SIGCONT')
  await until('Redis is reached again', async () => (await readiness(app)).json.redis === 'UP')
})

test('a shop without configured Redis is READY in /readyz immediately', async () => {
  expect(await readiness(await useApp({}))).toMatchObject({ ...up, json: { ...up.json, redis: null } })
})

test('while the database is stopped or hangs, /readyz returns 503 and a page is stale, and both recover', async () => {
  const { url, proxy } = await useProxiedDatabase()
  const config = loadConfig(standardModules, {
    ...SECRET_SETTINGS,
    CARTWRIGHT__LOG__LEVEL: 'silent',
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    CARTWRIGHT__DATABASE__STATEMENT_TIMEOUT_MS: '1000'
  })
  const platform = await openPlatform(config, url, openLog(config.log))
  const { app, stop } = await setUpShopModules(platform).then(openGatewayForShopModules)
  onTestFinished(async () => {
    await proxy.restore()
    await app.close()
    await stop()
    await platform.close()
  })
  const shop = { request: (method: string, path: string) => send(app, method, path, {}) }
  const browse = () => shop.request('GET', '/api/products')
  expect((await readiness(shop)).status).toBe(200)
  expect((await browse()).status).toBe(200)

  for (const fault of [proxy.cut, proxy.hang]) {
    await fault()
    const down = await readiness(shop)
    expect(down).toMatchObject(databaseDown)
    expect(down.elapsed).toBeLessThan(3_200)
    await until('a page says that it is stale', async () => {
      const { status, headers } = await browse()
      expect(status).toBe(200)
      return headers.warning === '110 - "Response is Stale"' && Number(headers.age) < 60
    })
    const unread = await shop.request('GET', '/api/products?limit=7')
    expect([unread.status, unread.headers['retry-after']]).toEqual([503, '1'])
    expect((await shop.request('GET', '/healthz')).status).toBe(200)
    expect((await shop.request('GET', '/metricsz')).status).toBe(200)
    await proxy.restore()
    await until('pages are served again', async () => (await browse()).status === 200)
    await until('the shop is ready again', async () => (await readiness(shop)).status === 200)
  }
})
