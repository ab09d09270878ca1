import { Redis } from 'ioredis'
import pino from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { useRedisServer } from '../../../test/faults/redis-server.ts'
import { openTcpProxy } from '../../../test/faults/tcp-proxy.ts'
import { until } from '../../../test/faults/until.ts'
import { createSharedBudgets } from '../../kernel/shared-request-budgets.ts'
import { errorFields } from '../log.ts'
import type { KeyValueCache } from './cache.ts'
import { createRedisCache } from './redis.ts'

const ENTRIES_MAX = 100
const lines: string[] = []
const written: string[] = []
const log = pino(
  { errorKey: 'err', serializers: { err: (error: unknown) => errorFields(error) } },
  {
    write: (line: string) => {
      written.push(line)
      lines.push(JSON.parse(line).msg)
    }
  }
)

function useCache(url: string): KeyValueCache {
  lines.length = 0
  written.length = 0
  const cache = createRedisCache(url, log, ENTRIES_MAX)
  onTestFinished(() => cache.close())
  return cache
}
const isUp = (cache: KeyValueCache) => async () => (await cache.ping()) === 'UP'

test('without a Redis server the cache uses the memory of its process and reports Redis as DOWN', async () => {
  const server = await useRedisServer()
  const cache = useCache(`redis://127.0.0.1:${server.port}`)
  for (let i = 0; i < 2 * ENTRIES_MAX; i += 1) {
    expect(await cache.get(`key ${i}`)).toBeUndefined()
    await cache.set(`key ${i}`, `value ${i}`, 60)
    expect(await cache.get(`key ${i}`)).toBe(`value ${i}`)
  }
  expect(await cache.ping()).toBe('DOWN')
  const operations = 6 * ENTRIES_MAX
  expect(cache.statistics()).toMatchObject({
    redis: 'DOWN',
    hits: 200,
    misses: 200,
    errors: operations,
    operations,
    entries: ENTRIES_MAX
  })
})

test('a Redis server that starts after the shop is used as cache', async () => {
  const server = await useRedisServer()
  const cache = useCache(`redis://127.0.0.1:${server.port}`)
  expect(await cache.ping()).toBe('DOWN')
  await until('the failed connection is logged', () => lines.length > 0)
  await server.start()
  await until('the cache is connected', isUp(cache))
  expect(cache.statistics().redis).toBe('UP')
  await cache.set('key', 'value', 60)
  expect(await cache.get('key')).toBe('value')
  // On a busy machine the connection can be lost again. Each loss and each return is logged once.
  expect(lines.length).toBeGreaterThanOrEqual(2)
  expect(lines).toEqual(
    lines.map((_, at) =>
      at % 2 === 0
        ? 'Redis cannot be reached: this process caches in its own memory'
        : 'Redis is reached again'
    )
  )
})

test('reads from a killed Redis server are misses and report DOWN, and it is used again after its restart', async () => {
  const server = await useRedisServer()
  await server.start()
  const cache = useCache(`redis://127.0.0.1:${server.port}`)
  await until('the cache is connected', isUp(cache))
  for (let kills = 0; kills < 3; kills += 1) {
    await cache.set('key', 'value', 60)
    expect(await cache.get('key')).toBe('value')
    await server.kill()
    expect(await cache.get('key')).toBeUndefined()
    expect(await cache.ping()).toBe('DOWN')
    await server.start()
    await until('the cache is connected again', isUp(cache))
  }
})

test('only a few readers query a Redis server that hangs, and it is used again when it responds', async () => {
  const server = await useRedisServer()
  await server.start()
  const cache = useCache(`redis://127.0.0.1:${server.port}`)
  await until('the cache is connected', isUp(cache))
  await cache.set('key', 'value', 60)
  server.signal('SIGSTOP')
  const asked = vi.spyOn(Redis.prototype, 'get')
  onTestFinished(() => asked.mockRestore())
  expect(await cache.get('key')).toBeUndefined()
  expect(asked).toHaveBeenCalledTimes(1)
  for (let i = 0; i < 100; i += 1) expect(await cache.get('key')).toBeUndefined()
  // The cache queries Redis again at most once in 250 ms of the loop.
  expect(asked.mock.calls.length).toBeLessThan(20)
  expect(await cache.ping()).toBe('DOWN')
  expect(cache.statistics().redis).toBe('DOWN')
  server.signal('SIGCONT')
  await until('the cache responds again', async () => (await cache.get('key')) === 'value')
})

test('a Redis connection that gets no responses is replaced', async () => {
  const server = await useRedisServer()
  await server.start()
  const proxy = await openTcpProxy({ host: '127.0.0.1', port: server.port })
  onTestFinished(() => proxy.close())
  const cache = useCache(`redis://127.0.0.1:${proxy.port}`)
  await until('the cache is connected', isUp(cache))
  await cache.set('key', 'value', 60)
  proxy.strand()
  await until('the cache responds again', async () => (await cache.get('key')) === 'value')
})

test('while Redis hangs, 500 simultaneous cache reads all return a miss', async () => {
  const server = await useRedisServer()
  await server.start()
  const cache = useCache(`redis://127.0.0.1:${server.port}`)
  await until('the cache is connected', isUp(cache))
  server.signal('SIGSTOP')
  const values = await Promise.all(Array.from({ length: 500 }, (_, i) => cache.get(`key ${i}`)))
  expect(new Set(values)).toEqual(new Set([undefined]))
  server.signal('SIGCONT')
})

test('the Redis URL sets the password and database, and every key has the prefix cartwright:', async () => {
  const server = await useRedisServer('--requirepass', 's3cret/word')
  await server.start()
  const url = `redis://default:s3cret%2Fword@127.0.0.1:${server.port}/3`
  const cache = useCache(url)
  await until('the cache is connected', isUp(cache))
  await cache.set('key', 'value', 60)
  const direct = new Redis(url)
  onTestFinished(() => direct.disconnect())
  expect(await direct.keys('*')).toEqual(['cartwright:key'])
  expect(await direct.pttl('cartwright:key')).toBeGreaterThan(50_000)
})

test('a wrong Redis password makes the cache report DOWN and is never logged', async () => {
  const server = await useRedisServer('--requirepass', 'right')
  await server.start()
  const cache = useCache(`redis://default:wr0ng@127.0.0.1:${server.port}`)
  await until('the rejection of the server is logged', () => lines.length > 0)
  expect(await cache.ping()).toBe('DOWN')
  expect(JSON.stringify(written)).not.toContain('wr0ng')
  expect(await cache.get('key')).toBeUndefined()
})

test('a closed cache returns misses, and it can be closed twice', async () => {
  const server = await useRedisServer()
  await server.start()
  const cache = createRedisCache(`redis://127.0.0.1:${server.port}`, log, ENTRIES_MAX)
  await until('the cache is connected', isUp(cache))
  await cache.close()
  await cache.close()
  expect(await cache.get('key')).toBeUndefined()
  await expect(cache.ping()).rejects.toThrow()
})

test('a cache can be closed while its Redis server hangs', async () => {
  const server = await useRedisServer()
  await server.start()
  const cache = createRedisCache(`redis://127.0.0.1:${server.port}`, log, ENTRIES_MAX)
  await until('the cache is connected', isUp(cache))
  server.signal('SIGSTOP')
  await cache.get('key')
  await cache.close()
  server.signal('SIGCONT')
})

test('processes with one Redis share their limits, and each decides alone while it does not answer', async () => {
  const server = await useRedisServer()
  await server.start()
  const caches = [1, 2].map(() => useCache(`redis://127.0.0.1:${server.port}`))
  for (const cache of caches) await until('the cache is connected', isUp(cache))
  const budgets = caches.map(({ exchangeBudgetClaims = () => Promise.reject() }) =>
    createSharedBudgets(exchangeBudgetClaims)('x', 20)
  )
  const takeAll = async (caller: string) => {
    const waits: number[] = []
    for (let count = 0; count < 25; count += 1)
      for (const budget of budgets) waits.push(await budget.take(caller))
    return waits.filter(wait => wait === 0).length
  }
  // Another process may take 5 % that it has not reported.
  const shared = await takeAll('ada')
  expect([20, 21]).toContain(shared)
  expect(await budgets[0]?.take('ada')).toBeGreaterThan(0)
  await server.kill()
  expect(await takeAll('eve')).toBe(40)
})
