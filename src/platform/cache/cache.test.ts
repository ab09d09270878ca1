import pino from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { useRedisServer } from '../../../test/faults/redis-server.ts'
import { until } from '../../../test/faults/until.ts'
import { createMemoryCache, type KeyValueCache } from './cache.ts'
import { createRedisCache } from './redis.ts'

async function openRedisCache(): Promise<KeyValueCache> {
  const server = await useRedisServer()
  await server.start()
  const cache = createRedisCache(`redis://127.0.0.1:${server.port}`, pino({ level: 'silent' }), 100)
  await until('the cache is connected', async () => (await cache.ping()) === 'UP')
  return cache
}

const adapters = { memory: async () => createMemoryCache(100), redis: openRedisCache }

describe.each(Object.entries(adapters))('the %s cache', (name, open) => {
  let cache: KeyValueCache
  beforeEach(async () => {
    cache = await open()
  })
  afterEach(() => cache.close())

  test('the cache returns a stored value unchanged', async () => {
    const value = `{"name":"Žluťoučký 🛒","zero":"\\u0000","text":"${'x'.repeat(300_000)}"}`
    await cache.set('key', value, 60)
    expect(await cache.get('key')).toBe(value)
  })

  test('a cached empty string is a hit', async () => {
    await cache.set('key', '', 60)
    expect(await cache.get('key')).toBe('')
    expect(cache.statistics()).toMatchObject({ hits: 1, misses: 0 })
  })

  test('an unknown cache key is a miss', async () => {
    expect(await cache.get('never set')).toBeUndefined()
  })

  test('a later value of a cache key replaces an earlier one', async () => {
    await cache.set('key', 'first', 60)
    await cache.set('key', 'second', 60)
    expect(await cache.get('key')).toBe('second')
  })

  test('cache keys that differ in one character are different entries', async () => {
    await cache.set('product:1', 'one', 60)
    await cache.set('product:1 ', 'two', 60)
    await cache.set('PRODUCT:1', 'three', 60)
    expect(await cache.get('product:1')).toBe('one')
  })

  test('a cache entry is gone when its TTL has expired', async () => {
    await cache.set('short', 'value', 0.05)
    await cache.set('long', 'value', 60)
    await until('the entry is gone', async () => (await cache.get('short')) === undefined)
    expect(await cache.get('long')).toBe('value')
  })

  test.each([0, -1])('a cache entry with a TTL of %d seconds is not stored', async ttlSeconds => {
    await cache.set('key', 'value', ttlSeconds)
    expect(await cache.get('key')).toBeUndefined()
  })

  test("the cache's ping reports UP for Redis and null for the memory cache", async () => {
    expect(await cache.ping()).toBe(name === 'redis' ? 'UP' : null)
  })

  test('the cache statistics count hits, misses and operations', async () => {
    await cache.set('key', 'value', 60)
    await cache.get('key')
    await cache.get('key')
    await cache.get('other')
    const figures = cache.statistics()
    expect(figures).toMatchObject({ adapter: name, hits: 2, misses: 1, errors: 0, operations: 4 })
    expect(figures.operation_seconds).toBeGreaterThan(0)
    expect(figures.operation_seconds).toBeLessThan(1)
  })
})

test('a full memory cache evicts the least recently used entry', async () => {
  const cache = createMemoryCache(2)
  await cache.set('a', 'a', 60)
  await cache.set('b', 'b', 60)
  await cache.get('a')
  await cache.set('c', 'c', 60)
  expect([await cache.get('a'), await cache.get('b'), await cache.get('c')]).toEqual(['a', undefined, 'c'])
  expect(cache.statistics().entries).toBe(2)
})
