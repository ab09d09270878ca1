import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { startHaproxyOrStandIn } from '../support/haproxy.ts'
import { createHttpClient } from '../support/http-client.ts'
import { startProgram } from '../support/program.ts'
import { useRedisServer } from './redis-server.ts'
import { openTcpProxy } from './tcp-proxy.ts'
import { until } from './until.ts'

// Lane long: it takes 25 seconds. src/platform/cache has tests of a Redis that fails, without a load balancer.

const CLIENTS = 4
/** How long each thinks between two requests: some 150 a second show what one without a pause does, at a fourth of the CPU time. */
const PAUSE_MS = 20
/** Longer than HAProxy needs to remove a process: two checks, 200 ms apart. */
const CHECKS_MIN = 8
const SLOW_MS = 400

/** Two processes with one Redis behind a proxy, behind a load balancer that checks `/readyz`. */
async function useShopBehindBalancer() {
  const database = await createTestDatabase()
  const redis = await useRedisServer()
  await redis.start()
  const proxy = await openTcpProxy({ host: '127.0.0.1', port: redis.port })
  const programs = [1, 2].map(() =>
    startProgram({
      DATABASE_URL: database.url,
      REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
      CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
      CARTWRIGHT__SHOP__DEMO: 'on'
    })
  )
  onTestFinished(async () => {
    for (const { child } of programs) child.kill('SIGKILL')
    for (const { ended } of programs) await ended
    await proxy.close()
    await database.drop()
  })
  const addresses = await Promise.all(programs.map(({ listening }) => listening))
  const readiness = () =>
    Promise.all(
      addresses.map(
        async address => (await (await fetch(`${address}/readyz`)).json()) as Record<string, unknown>
      )
    )
  const balancer = await startHaproxyOrStandIn(addresses)
  onTestFinished(balancer.close)
  const client = createHttpClient(balancer.origin, CLIENTS)
  onTestFinished(client.close)
  const redisStates = async () => (await readiness()).map(({ redis: state }) => state)
  return { balancer: balancer.name, redis, proxy, client, addresses, readiness, redisStates }
}

test('a Redis that is killed, hangs or is slow fails no request of a shop behind a load balancer', {
  timeout: 120_000
}, async () => {
  const { balancer, redis, proxy, client, addresses, readiness, redisStates } = await useShopBehindBalancer()
  await until('the shop has products', async () => {
    const answer = await client.send('GET', '/api/products')
    return answer?.status === 200 && answer.json.items.length > 0
  })
  const { items } = (await client.send('GET', '/api/products?in_stock=true'))?.json ?? {}
  const product = (await client.send('GET', `/api/products/${items[0].id}`))?.json
  const cartLine = { variant_id: product.variants[0].id, quantity: 1 }
  const statuses = new Map<number | undefined, number>()
  let isOver = false
  const callers = Array.from({ length: CLIENTS }, async (_, caller) => {
    for (let count = 0; !isOver; count += 1) {
      const answer =
        caller === 0
          ? await client.send('POST', '/api/guest-cart', { body: cartLine })
          : await client.send('GET', `/api/products?limit=${1 + (count % 20)}`)
      statuses.set(answer?.status, (statuses.get(answer?.status) ?? 0) + 1)
      await delay(PAUSE_MS)
    }
  })
  const reach = (state: 'UP' | 'DOWN') =>
    until(`Redis is ${state}`, async () => (await redisStates()).every(each => each === state))
  const isDown = async () => {
    await reach('DOWN')
    for (let check = 0; check < CHECKS_MIN; check += 1) {
      for (const body of await readiness())
        expect(body).toMatchObject({ status: 'READY', database: 'UP', cache: 'UP', redis: 'DOWN' })
      const metrics = await (await fetch(`${addresses[0]}/metrics`)).text()
      expect(metrics).toContain('cartwright_cache_redis_up 0')
      await until('the balancer has checked again', pause())
    }
  }
  try {
    await reach('UP')
    redis.signal('SIGSTOP')
    await isDown()
    redis.signal('SIGCONT')
    await reach('UP')
    proxy.slow('to_program', SLOW_MS)
    await isDown()
    await proxy.restore()
    await reach('UP')
    await redis.kill()
    await isDown()
    await redis.start()
    await reach('UP')
  } finally {
    isOver = true
    await Promise.all(callers)
  }
  console.log(balancer, Object.fromEntries(statuses))
  expect([...statuses.keys()].sort()).toEqual([200, 201])
  expect(statuses.get(200)).toBeGreaterThan(100)
})

/** Returns whether the load balancer must have checked since the call. */
function pause(): () => boolean {
  const at = performance.now() + 250
  return () => performance.now() > at
}
