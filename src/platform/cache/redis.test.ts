import { Redis } from 'ioredis'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { useRedisServer } from '../../../test/faults/redis-server.ts'
import { openTcpProxy } from '../../../test/faults/tcp-proxy.ts'
import { until } from '../../../test/faults/until.ts'
import type { Cache } from './cache.ts'
import { createRedisCache } from './redis.ts'

const lines: string[] = []
const log = pino({ errorKey: 'err' }, { write: (line: string) => lines.push(JSON.parse(line).msg) })

function useCache(url: string): Cache {
  lines.length = 0
  const cache = createRedisCache(url, log)
  onTestFinished(() => cache.close())
  return cache
}
const isUp = (cache: Cache) => () => cache.ping().then(() => true)

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

test('without a server nothing fails, reads are misses at once, and the ping says so', async () => {
  const server = await useRedisServer()
  const cache = useCache(`redis://127.0.0.1:${server.port}`)
  const elapsed = await millisecondsOf(async () => {
    for (let i = 0; i < 200; i += 1) {
      await cache.set('key', 'value', 60)
      expect(await cache.get('key')).toBeUndefined()
    }
  })
  expect(elapsed).toBeLessThan(500)
  await expect(cache.ping()).rejects.toThrow()
  expect(cache.statistics()).toMatchObject({ hits: 0, misses: 200, errors: 400, operations: 400 })
})

test('a server that comes later is found', async () => {
  const server = await useRedisServer()
  const cache = useCache(`redis://127.0.0.1:${server.port}`)
  await expect(cache.ping()).rejects.toThrow()
  await server.start()
  await until('it is connected', isUp(cache), 3_000)
  await cache.set('key', 'value', 60)
  expect(await cache.get('key')).toBe('value')
  expect(lines).toEqual([
    'the cache cannot be reached: pages come from the database',
    'the cache is reached again'
  ])
})

test('a server that is killed is missed at once and found again', async () => {
  const server = await useRedisServer()
  await server.start()
  const cache = useCache(`redis://127.0.0.1:${server.port}`)
  await until('it is connected', isUp(cache))
  for (let kills = 0; kills < 3; kills += 1) {
    await cache.set('key', 'value', 60)
    expect(await cache.get('key')).toBe('value')
    await server.kill()
    expect(await millisecondsOf(() => cache.get('key'))).toBeLessThan(150)
    expect(await millisecondsOf(() => cache.ping().catch(() => {}))).toBeLessThan(150)
    await expect(cache.ping()).rejects.toThrow()
    await server.start()
    await until('it is connected again', isUp(cache), 1_000)
  }
})

test('a server that hangs costs a few readers 100 ms each, and the others nothing; it is found within a second', async () => {
  const server = await useRedisServer()
  await server.start()
  const cache = useCache(`redis://127.0.0.1:${server.port}`)
  await until('it is connected', isUp(cache))
  await cache.set('key', 'value', 60)
  server.signal('SIGSTOP')
  const first = await millisecondsOf(() => cache.get('key'))
  expect(first).toBeGreaterThan(90)
  expect(first).toBeLessThan(200)
  expect(
    await millisecondsOf(async () => {
      for (let i = 0; i < 100; i += 1) expect(await cache.get('key')).toBeUndefined()
    })
  ).toBeLessThan(50)
  expect(await millisecondsOf(() => expect(cache.ping()).rejects.toThrow())).toBeLessThan(1_200)
  server.signal('SIGCONT')
  await until('it answers again', async () => (await cache.get('key')) === 'value', 1_000)
})

test('a connection that is never answered any more is made anew', async () => {
  const server = await useRedisServer()
  await server.start()
  const proxy = await openTcpProxy({ host: '127.0.0.1', port: server.port })
  onTestFinished(() => proxy.close())
  const cache = useCache(`redis://127.0.0.1:${proxy.port}`)
  await until('it is connected', isUp(cache))
  await cache.set('key', 'value', 60)
  proxy.strand()
  const back = await until('it answers again', async () => (await cache.get('key')) === 'value', 10_000)
  expect(back).toBeLessThan(1_000)
})

test('many readers of a server that hangs are all answered in time', async () => {
  const server = await useRedisServer()
  await server.start()
  const cache = useCache(`redis://127.0.0.1:${server.port}`)
  await until('it is connected', isUp(cache))
  server.signal('SIGSTOP')
  const elapsed = await millisecondsOf(() =>
    Promise.all(Array.from({ length: 500 }, (_, i) => cache.get(`key ${i}`)))
  )
  expect(elapsed).toBeLessThan(300)
  server.signal('SIGCONT')
})

test('password and database come from the URL, and keys lie below a prefix', async () => {
  const server = await useRedisServer('--requirepass', 's3cret/word')
  await server.start()
  const url = `redis://default:s3cret%2Fword@127.0.0.1:${server.port}/3`
  const cache = useCache(url)
  await until('it is connected', isUp(cache))
  await cache.set('key', 'value', 60)
  const direct = new Redis(url)
  onTestFinished(() => direct.disconnect())
  expect(await direct.keys('*')).toEqual(['cartwright:key'])
  expect(await direct.pttl('cartwright:key')).toBeGreaterThan(50_000)
})

test('a wrong password is a cache that is down, and is not told', async () => {
  const server = await useRedisServer('--requirepass', 'right')
  await server.start()
  const cache = useCache(`redis://default:wr0ng@127.0.0.1:${server.port}`)
  for (let i = 0; i < 5; i += 1) {
    const failure = await cache.ping().catch(error => error)
    expect(failure).toBeInstanceOf(Error)
    expect(`${failure.message} ${failure.stack}`).not.toContain('wr0ng')
  }
  expect(await cache.get('key')).toBeUndefined()
})

test('a closed cache answers misses, and closing twice is no error', async () => {
  const server = await useRedisServer()
  await server.start()
  const cache = createRedisCache(`redis://127.0.0.1:${server.port}`, log)
  await until('it is connected', isUp(cache))
  await cache.close()
  await cache.close()
  expect(await cache.get('key')).toBeUndefined()
  await expect(cache.ping()).rejects.toThrow()
})

test('a server that hangs does not hold up the end', async () => {
  const server = await useRedisServer()
  await server.start()
  const cache = createRedisCache(`redis://127.0.0.1:${server.port}`, log)
  await until('it is connected', isUp(cache))
  server.signal('SIGSTOP')
  await cache.get('key')
  expect(await millisecondsOf(() => cache.close())).toBeLessThan(100)
  server.signal('SIGCONT')
})
