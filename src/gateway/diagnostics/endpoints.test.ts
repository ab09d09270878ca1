import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import {
  type TestGateway,
  type TestGatewayOptions,
  useGateway,
  useSharedGateway
} from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { createMemoryCache, type RedisHealth } from '../../platform/cache/cache.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { statement } from '../../platform/postgres/statement.ts'

shareShops()

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const time = expect.stringMatching(ISO_TIME)
const hang = () => new Promise<never>(() => {})
const fail = () => Promise.reject(new Error('gone'))
const selectOne = statement({ name: 'test.select_one', gives: { one: 'int4' }, text: 'select 1 as one' })

let gateway: TestGateway
beforeAll(async () => {
  gateway = await useSharedGateway()
})

type Answers = {
  database?: () => Promise<void>
  cache?: () => Promise<RedisHealth>
  write?: () => Promise<void>
}
/** Creates a gateway with a simulated database or cache. */
async function useBackends(answers: Answers) {
  const platform: NonNullable<TestGatewayOptions['platform']> = {}
  const { db } = gateway.platform
  const { database = db.ping, write = db.proveWrite } = answers
  platform.db = { ...db, ping: database, proveWrite: write } as Database
  if (answers.cache) platform.cache = { ...createMemoryCache(1), ping: answers.cache }
  return useGateway({ platform })
}

test.each([
  ['/healthz', { status: 'UP', time }],
  ['/readyz', { status: 'READY', database: 'UP', cache: 'UP', redis: null, writes: 'UP', time }],
  [
    '/metricsz',
    {
      time,
      db_pool: {
        max_conns: expect.any(Number),
        total_conns: expect.any(Number),
        acquired_conns: expect.any(Number),
        idle_conns: expect.any(Number),
        acquire_count: expect.any(Number),
        empty_acquire_count: expect.any(Number),
        acquire_duration_ms: expect.any(Number)
      }
    }
  ]
])(
  'the diagnostics endpoint %s returns 200 with exactly the specified body, without a token',
  async (path, body) => {
    for (const headers of [
      {},
      { authorization: 'Bearer bad' },
      { origin: 'https://a.example', accept: 'text/html' }
    ]) {
      const answer = await gateway.request('GET', path, { headers })
      expect(answer.status).toBe(200)
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(answer.json).toStrictEqual(body)
      expect(Math.abs(Date.parse(answer.json.time) - Date.now())).toBeLessThan(5_000)
    }
  }
)

test('all connection pool statistics except the duration are integers, and add up', async () => {
  const { db_pool: pool } = (await gateway.request('GET', '/metricsz')).json
  for (const [name, value] of Object.entries<number>(pool)) {
    expect(value, name).toBeGreaterThanOrEqual(0)
    if (name !== 'acquire_duration_ms') expect(Number.isInteger(value), name).toBe(true)
  }
  expect(pool.acquired_conns + pool.idle_conns).toBe(pool.total_conns)
  expect(pool.total_conns).toBeLessThanOrEqual(pool.max_conns)
})

test('the connection pool statistics count queries and waits', async () => {
  const { request, platform } = await useGateway({ settings: { CARTWRIGHT__DATABASE__POOL_SIZE: '2' } })
  const { db } = platform
  const figures = async () => (await request('GET', '/metricsz')).json.db_pool
  const before = await figures()
  expect(before.max_conns).toBe(20)

  for (let count = 0; count < 5; count += 1) await db.rows(selectOne)
  const queried = await figures()
  expect(queried.acquire_count - before.acquire_count).toBe(5)
  // The first query waited for the first shared connection; the second one opens meanwhile.
  expect(queried.empty_acquire_count - before.empty_acquire_count).toBe(1)
  await expect.poll(async () => (await figures()).total_conns).toBe(2)

  const waitMs = 300
  const transact = () =>
    db.transaction(async tx => {
      await tx.rows(selectOne)
      await delay(waitMs)
    })
  const running = [transact(), transact(), transact()]
  await expect.poll(async () => (await figures()).acquired_conns, { interval: 5 }).toBe(2)
  await Promise.all(running)
  const transacted = await figures()
  expect(transacted.acquire_count - queried.acquire_count).toBe(3)
  expect(transacted.empty_acquire_count - queried.empty_acquire_count).toBe(3)
  expect(transacted.acquired_conns).toBe(0)
  expect(transacted.total_conns).toBe(4)
  // The third had to wait for one of the first two.
  expect(transacted.acquire_duration_ms - queried.acquire_duration_ms).toBeGreaterThan(waitMs * 0.8)

  await transact()
  const idle = await figures()
  expect(idle.acquire_count - transacted.acquire_count).toBe(1)
  expect(idle.empty_acquire_count).toBe(transacted.empty_acquire_count)
})

test.each([
  ['database', { database: fail }, { database: 'DOWN', cache: 'UP', redis: null, writes: 'DOWN' }],
  ['cache', { cache: fail }, { database: 'UP', cache: 'DOWN', redis: null, writes: 'UP' }],
  [
    'database and the cache',
    { database: fail, cache: fail },
    { database: 'DOWN', cache: 'DOWN', redis: null, writes: 'DOWN' }
  ],
  [
    'database, which throws,',
    {
      database: () => {
        throw new Error('gone')
      }
    },
    { database: 'DOWN', cache: 'UP', redis: null, writes: 'DOWN' }
  ]
])('/readyz returns 503 while the %s is down, and /healthz still 200', async (_what, pings, states) => {
  const { request } = await useBackends(pings)
  const answer = await request('GET', '/readyz')
  expect(answer.status).toBe(503)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.json).toStrictEqual({ status: 'NOT_READY', ...states, time })
  expect((await request('GET', '/healthz')).json.status).toBe('UP')
})

test.each(['UP', 'DOWN'] as const)('/readyz returns 200 with redis %s while the cache works', async redis => {
  const { request } = await useBackends({ cache: async () => redis })
  const answer = await request('GET', '/readyz')
  expect(answer.status).toBe(200)
  expect(answer.json).toStrictEqual({
    status: 'READY',
    database: 'UP',
    cache: 'UP',
    redis,
    writes: 'UP',
    time
  })
})

test('a read-only database is reported while the shop stays ready, and a write is tried once a second', async () => {
  let tries = 0
  const { request } = await useBackends({
    write: async () => {
      tries += 1
      throw new Error('no room')
    }
  })
  for (let count = 0; count < 20; count += 1) {
    const answer = await request('GET', '/readyz')
    expect(answer.status).toBe(200)
    expect(answer.json).toStrictEqual({
      status: 'READY',
      database: 'UP',
      cache: 'UP',
      redis: null,
      writes: 'DOWN',
      time
    })
    if (tries > 1) break
  }
  expect(tries).toBeLessThanOrEqual(2)
})

test('a test write that hangs does not delay /readyz, which reports the last result until a new one is there', async () => {
  const writes: PromiseWithResolvers<void>[] = []
  const { request } = await useBackends({
    write: () => {
      const write = Promise.withResolvers<void>()
      writes.push(write)
      if (writes.length === 1) write.resolve()
      return write.promise
    }
  })
  const states = async () => (await request('GET', '/readyz')).json.writes
  expect(await states()).toBe('UP')
  // The second write is started by the first request after a second.
  await expect.poll(async () => [await states(), writes.length], { interval: 20 }).toEqual(['UP', 2])
  const startedAt = performance.now()
  for (let count = 0; count < 10; count += 1) expect(await states()).toBe('UP')
  expect(performance.now() - startedAt).toBeLessThan(1_000)
  expect(writes).toHaveLength(2)
  writes[1]?.reject(new Error('no room'))
  await expect.poll(states).toBe('DOWN')
  for (const write of writes) write.resolve()
})

test('/readyz returns 503 when the ping succeeds and a connection pool has no connection', async () => {
  const { db } = gateway.platform
  const { request } = await useGateway({
    platform: { db: { ...db, isOutOfConnections: () => true } as Database }
  })
  const answer = await request('GET', '/readyz')
  expect(answer.status).toBe(503)
  expect(answer.json).toMatchObject({ status: 'NOT_READY', database: 'DOWN', cache: 'UP' })
})

test('if the pings of both backends hang, /readyz responds after 3 seconds and the other probes immediately', async () => {
  const { request } = await useBackends({ database: hang, cache: hang })
  const startedAt = performance.now()
  const order: string[] = []
  const readiness = request('GET', '/readyz').finally(() => order.push('/readyz'))
  expect((await request('GET', '/healthz')).status).toBe(200)
  expect((await request('GET', '/metrics')).status).toBe(200)
  expect((await request('GET', '/metricsz')).status).toBe(200)
  order.push('the others')
  const answer = await readiness
  expect(order).toEqual(['the others', '/readyz'])
  expect(performance.now() - startedAt).toBeGreaterThan(2_990)
  expect(answer.status).toBe(503)
  expect(answer.json).toStrictEqual({
    status: 'NOT_READY',
    database: 'DOWN',
    cache: 'DOWN',
    redis: null,
    writes: 'DOWN',
    time
  })
})

test('/readyz counts a ping that is answered within 3 seconds, and not a later one', async () => {
  const { request } = await useBackends({ database: () => delay(1_000), cache: () => delay(3_300, null) })
  const answer = await request('GET', '/readyz')
  expect(answer.json).toStrictEqual({
    status: 'NOT_READY',
    database: 'UP',
    cache: 'DOWN',
    redis: null,
    writes: 'UP',
    time
  })
})

test('simultaneous requests for /readyz share one check, and later ones start a new one', async () => {
  let pings = 0
  const { request } = await useBackends({
    database: async () => {
      pings += 1
      await delay(50)
    }
  })
  const answers = await Promise.all(Array.from({ length: 20 }, () => request('GET', '/readyz')))
  expect(answers.every(answer => answer.status === 200)).toBe(true)
  expect(pings).toBe(1)
  await request('GET', '/readyz')
  expect(pings).toBe(2)
})

test('while the process drains, /readyz returns 503 with both backends up, and all other requests are served', async () => {
  const draining = await useGateway()
  draining.drain()
  const answer = await draining.request('GET', '/readyz')
  expect(answer.status).toBe(503)
  expect(answer.json).toStrictEqual({
    status: 'NOT_READY',
    database: 'UP',
    cache: 'UP',
    redis: null,
    writes: 'UP',
    time
  })
  expect((await draining.request('GET', '/healthz')).status).toBe(200)
})

test('health probes are counted in metrics and not logged', async () => {
  const quiet = await useGateway()
  for (const path of ['/healthz', '/readyz', '/metrics', '/metricsz']) await quiet.request('GET', path)
  expect(quiet.log).toEqual([])
  expect((await quiet.request('GET', '/metrics')).text).toMatch(
    /_count\{method="GET",route="\/healthz",status="200"\} 1\n/
  )
})
