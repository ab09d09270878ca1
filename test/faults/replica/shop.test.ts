import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../../support/program.ts'
import { type TestCluster, usePrimaryAndStandby } from '../../support/standby.ts'
import { createTraffic } from '../network/traffic.ts'
import { until } from '../until.ts'

// Lane long: it takes 20 seconds. replica.test.ts delays, kills and freezes a replica of fewer processes.

const STAFF = { email: 'boss@example.com', password: 'an uncommon sentence' }
const LAG_SECONDS = 10
const READ_EVERY_MS = 100
const PRODUCTS = '/api/catalog/products?limit=5'

async function useProcess(primary: TestCluster, standby: TestCluster): Promise<string> {
  const { child, listening, ended } = startProgram({
    DATABASE_URL: primary.url,
    CARTWRIGHT__DATABASE__REPLICA_URL: standby.url,
    CARTWRIGHT_ADMIN_EMAIL: STAFF.email,
    CARTWRIGHT_ADMIN_PASSWORD: STAFF.password,
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    CARTWRIGHT__LOG__LEVEL: 'error',
    CARTWRIGHT__SHOP__DEMO: 'on'
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return listening
}

/** How often the table of products was scanned, by statements of all sessions whose statistics have arrived. */
const scansOf = async (cluster: TestCluster): Promise<number> => {
  const scans = `select seq_scan + coalesce(idx_scan, 0) as scans from pg_stat_user_tables where relid = 'catalog.products'::regclass`
  return Number((await cluster.sql(scans))[0]?.scans)
}

/** Two processes of a shop, and an administrator who writes through one and reads through the other in turn. */
async function useShop() {
  const { primary, standby } = await usePrimaryAndStandby()
  const origins: string[] = []
  // The first process creates the demo shop, so the other one starts after it.
  while (origins.length < 2) origins.push(await useProcess(primary, standby))
  const traffic = createTraffic(origins)
  onTestFinished(traffic.anywhere.close)
  const login = await traffic.anywhere.send('POST', '/api/auth/login', { body: STAFF })
  const token: string = login?.json.access_token
  const missed: string[] = []
  let turn = 0

  const writeAndRead = async () => {
    turn += 1
    const [writer, reader] = turn % 2 === 0 ? traffic.at : traffic.at.toReversed()
    const body = { name: `Product ${turn}` }
    const created = await writer?.send('POST', '/api/catalog/products', { token, body })
    const list = await reader?.send('GET', PRODUCTS, { token })
    if (list?.json.items[0]?.id !== created?.json.id) missed.push(body.name)
  }
  /** The sum of a metric of both processes. */
  const metric = async (name: string) => {
    let sum = 0
    for (const origin of origins) {
      const text = await (await fetch(`${origin}/metrics`)).text()
      sum += Number(new RegExp(`^cartwright_db_replica_${name} (\\S+)$`, 'm').exec(text)?.[1])
    }
    return sum
  }
  const isUsed = () => until('both processes use the replica', async () => (await metric('up')) === 2)
  return { primary, standby, traffic, token, missed, writeAndRead, metric, isUsed }
}

test('two processes read from a replica that lags, dies and comes back, and no caller misses its own write', {
  timeout: 180_000
}, async () => {
  const shop = await useShop()
  const { primary, standby, traffic, token, missed, writeAndRead, metric } = shop
  await shop.isUsed()
  const before = [await scansOf(primary), await scansOf(standby)] as const
  const reads = 40
  for (let count = 0; count < reads; count += 1) await traffic.at[count % 2]?.send('GET', PRODUCTS, { token })
  expect(await metric('reads_total')).toBeGreaterThan(reads * 0.7)
  await until('the standby has counted', async () => (await scansOf(standby)) - before[1] > reads * 0.7)
  expect((await scansOf(primary)) - before[0]).toBeLessThan(reads * 0.5)

  let isOver = false
  const visitor = async () => {
    for (let page = 0; !isOver; page += 1) {
      await traffic.anywhere.send('GET', `/api/products?q=shirt&limit=${1 + (page % 50)}`)
      await traffic.anywhere.send('GET', '/api/admin/orders?count=true', { token })
      await delay(READ_EVERY_MS)
    }
  }
  const visiting = visitor()
  for (let count = 0; count < 10; count += 1) await writeAndRead()

  await standby.sql('select pg_wal_replay_pause()')
  await until('the replica lags', async () => {
    await writeAndRead()
    return (await metric('lag_seconds')) > 2 * LAG_SECONDS
  })
  expect(await metric('up')).toBe(0)
  expect((await traffic.at[0]?.send('GET', '/readyz'))?.json).toMatchObject({
    status: 'READY',
    replica: 'DOWN'
  })
  await standby.sql('select pg_wal_replay_resume()')
  await shop.isUsed()
  for (let count = 0; count < 10; count += 1) await writeAndRead()

  standby.signal('SIGKILL')
  for (let count = 0; count < 10; count += 1) await writeAndRead()
  await standby.start()
  await shop.isUsed()
  const byReplica = await metric('reads_total')
  for (let count = 0; count < 10; count += 1) await writeAndRead()
  isOver = true
  await visiting
  expect(await metric('reads_total')).toBeGreaterThan(byReplica)
  expect((await traffic.at[0]?.send('GET', '/readyz'))?.json).toMatchObject({ replica: 'UP' })
  expect(missed).toEqual([])
  const failed = traffic.attempts.filter(({ status }) => status === undefined || status >= 400)
  expect(failed.map(({ route, status, code }) => `${route}: ${status} ${code}`)).toEqual([])
})
