import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { limitDatabase } from '../test/faults/connection-limit.ts'
import { createRedisServer } from '../test/faults/redis-server.ts'
import { openTcpProxy } from '../test/faults/tcp-proxy.ts'
import { startHaproxy } from '../test/support/haproxy.ts'
import type { openFlood } from './flood.ts'
import { startShop } from './shop.ts'

const SLOW_MS = 400
/** What a role may have that is one process too many, and what it has otherwise. */
const CONNECTIONS = { few: 8, usual: 100 }

type Settings = Record<string, string>

/** Two processes with one Redis behind HAProxy, which checks `/readyz`. */
export async function openBalancedShop(databaseUrl: string, settings: Settings) {
  const redis = await createRedisServer()
  await redis.start()
  const proxy = await openTcpProxy({ host: '127.0.0.1', port: redis.port })
  const withRedis = { ...settings, REDIS_URL: `redis://127.0.0.1:${proxy.port}` }
  const shops = await Promise.all([1, 2].map(() => startShop(databaseUrl, withRedis)))
  const haproxy = await startHaproxy(shops.map(({ url }) => url))
  const isUp = async () => {
    const answers = await Promise.all(shops.map(async ({ url }) => (await fetch(`${url}/readyz`)).json()))
    return answers.every(answer => (answer as { redis?: string }).redis === 'UP')
  }
  const untilUp = async () => {
    while (!(await isUp())) await delay(50)
  }
  await untilUp()
  return {
    url: haproxy.origin,
    pid: shops[0]?.pid ?? 0,
    /** Redis hangs, is slow, and is killed, for a third of the time each. */
    disturb: async (seconds: number) => {
      const third = (seconds * 1_000) / 3
      redis.signal('SIGSTOP')
      await delay(third)
      redis.signal('SIGCONT')
      proxy.slow('to_program', SLOW_MS)
      await delay(third)
      await proxy.restore()
      await redis.kill()
      await delay(third)
      await redis.start()
      await untilUp()
    },
    close: async () => {
      await haproxy.close()
      await Promise.all(shops.map(({ stop }) => stop()))
      await proxy.close()
      await redis.kill()
    }
  }
}

/** A shop whose database accepts fewer connections than it wants, as long as it is disturbed. */
export async function openLimitedShop(databaseUrl: string, settings: Settings) {
  const database = await limitDatabase(databaseUrl, CONNECTIONS.usual)
  const shop = await startShop(database.url, settings)
  return {
    url: shop.url,
    pid: shop.pid,
    disturb: async (seconds: number) => {
      database.setLimit(CONNECTIONS.few)
      database.endAll()
      await delay(seconds * 1_000)
      database.setLimit(CONNECTIONS.usual)
    },
    close: async () => {
      await shop.stop()
      database.close()
    }
  }
}

const RATES = [
  {
    service: 'express',
    name: 'Express',
    carrier: 'Bench',
    amountMinor: 700,
    estimatedDays: null,
    taxCategory: null
  }
]

/** A shop that asks a service for shipping rates. As long as it is disturbed, estimates arrive and the service hangs. */
export async function openProvidingShop(
  databaseUrl: string,
  settings: Settings,
  { flood, estimates }: { flood: ReturnType<typeof openFlood>; estimates: () => readonly string[] }
) {
  let isHanging = false
  const service = createServer((request, response) => {
    request.resume()
    if (!isHanging) response.end(JSON.stringify(RATES))
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const address = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const withRates = { ...settings, BENCH_RATES_URL: address }
  const shop = await startShop(databaseUrl, withRates, { main: 'bench/providing-shop.ts' })
  return {
    url: shop.url,
    pid: shop.pid,
    disturb: async (seconds: number, url: string) => {
      isHanging = true
      const requests = estimates()
      const rate = requests.length / seconds
      const seen = await flood.run({ url, connections: 64, rate, seconds, requests, source: '127.0.0.2' })
      isHanging = false
      service.closeAllConnections()
      return seen
    },
    close: async () => {
      await shop.stop()
      service.closeAllConnections()
      service.close()
    }
  }
}
