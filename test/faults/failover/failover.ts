import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { HttpClient } from '../../support/http-client.ts'
import { startProgram } from '../../support/program.ts'
import { type TestCluster, usePrimaryAndStandby } from '../../support/standby.ts'
import { runClient } from '../kill-load.ts'
import { createTraffic } from '../network/traffic.ts'
import { findVariantIds, findWrongWrites, openLoad } from '../open-load.ts'
import { openTcpProxy } from '../tcp-proxy.ts'
import { until } from '../until.ts'
import { findWrongOrders, openOrders } from './orders.ts'

const PROCESSES = 2
const CLIENTS = 4
const STAFF = { email: 'boss@example.com', password: 'an uncommon sentence' }
const SETTINGS = {
  CARTWRIGHT_ADMIN_EMAIL: STAFF.email,
  CARTWRIGHT_ADMIN_PASSWORD: STAFF.password,
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__AUTH__ACCESS_TOKEN_SECONDS: '86400',
  CARTWRIGHT__CART__LINE_QUANTITY_MAX: '100000',
  CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '["bank_transfer"]',
  CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1000000',
  CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000000',
  // Carts and orders get more units than the demo has.
  CARTWRIGHT__MODULES__INVENTORY__ENABLED: 'false',
  CARTWRIGHT__LOG__LEVEL: 'error',
  CARTWRIGHT__SHOP__DEMO: 'on'
}
const PAGES_EVERY_MS = 50
const PATIENCE_MS = 60_000
const ORDERS_LOST_MIN = 5

/** How the old primary fails. `freeze`: it continues after the promotion, and knows nothing of it. */
export type Failure = 'kill' | 'freeze' | 'switchover'
/** How the shop finds the primary: by all hosts in its URL, or through a proxy that follows the promotion. */
export type Route = 'hosts' | 'proxy'
export type FailoverReport = {
  /** From the end of the promotion until the first write was acknowledged. */
  firstWriteMs: number
  orders: number
  captures: number
  cartWrites: number
  pages: number
  /** Pages that were not answered with 200. */
  failedPages: string[]
  /** Broken guarantees: what was lost, doubled, or answered in a way that no failover explains. */
  wrong: string[]
}
type Options = {
  failure: Failure
  route: Route
  isSynchronous: boolean
  /** Acknowledged writes before the failure, after it, and after the return of a frozen primary. */
  writes: number
  /** Between the failure and the promotion: tools that promote have to detect it. */
  detectionMs: number
}

/** Two processes of a shop under load, whose primary fails and whose standby is promoted. For one test. */
export async function runFailover({
  failure,
  route,
  isSynchronous,
  writes,
  detectionMs
}: Options): Promise<FailoverReport> {
  const { primary, standby } = await usePrimaryAndStandby({ isSynchronous })
  const { databaseUrl, follow } = await useRoute(route, primary, standby)
  const origins: string[] = []
  // The first process creates the demo shop, so the other one starts after it.
  while (origins.length < PROCESSES) origins.push(await useProcess(databaseUrl))
  const traffic = createTraffic(origins)
  const http = traffic.anywhere
  onTestFinished(http.close)

  const variantIds = await findVariantIds(http, CLIENTS + 2)
  const { load, clients } = await openLoad({
    http,
    variantIds,
    label: failure,
    pauseMs: 5,
    hangUpPercent: 5
  })
  const orders = await openOrders(
    load,
    clients.map(({ token }) => token),
    STAFF
  )
  const pages = await readPages(traffic.at)
  const wrong: string[] = []
  const fail = (error: unknown) => void wrong.push(String(error))
  const running = [orders.run(), pages.run(() => load.isStopping)]
    .concat(clients.map(client => runClient(load, client)))
    .map(work => work.catch(fail))
  const isEnough = (from: number) => () => load.operations.length >= from + writes
  const writeMore = () =>
    until('enough writes are acknowledged', isEnough(load.operations.length), PATIENCE_MS)

  await writeMore()
  if (!isSynchronous) {
    const senders = await primary.sql('select pid from pg_stat_replication')
    for (const { pid } of senders) process.kill(Number(pid), 'SIGSTOP')
    const before = orders.acknowledged.length
    await until('orders are acknowledged', () => orders.acknowledged.length >= before + ORDERS_LOST_MIN)
  }
  if (failure === 'kill') primary.signal('SIGKILL')
  if (failure === 'freeze') primary.signal('SIGSTOP')
  if (failure === 'switchover') await primary.stop()
  else await delay(detectionMs)
  await standby.sql('select pg_promote()')
  follow()
  const promotedAt = performance.now()
  const firstWrite = () => load.operations.find(({ endedAt }) => endedAt > promotedAt)
  await until('a write is acknowledged', firstWrite, PATIENCE_MS)
  const firstWriteMs = Math.round((firstWrite()?.endedAt ?? Number.NaN) - promotedAt)
  await writeMore()
  if (failure === 'freeze') {
    primary.signal('SIGCONT')
    await writeMore()
  }
  load.isStopping = true
  await Promise.all(running)
  for (const process of traffic.at)
    await until('the process is ready', async () => (await process.send('GET', '/readyz'))?.status === 200)
  const sql = (text: string) => standby.sql(text)
  const wrongOrders = await findWrongOrders(orders.acknowledged, sql)
  const wrongWrites = await findWrongWrites(load, clients, load.acknowledgedWrites, sql).catch(error => [
    String(error)
  ])
  return {
    firstWriteMs,
    orders: orders.acknowledged.length,
    captures: orders.acknowledged.filter(({ isCaptured }) => isCaptured).length,
    cartWrites: load.acknowledged,
    pages: pages.count(),
    failedPages: pages.failed,
    wrong: [...wrong, ...load.unexpectedResponses, ...wrongOrders, ...wrongWrites]
  }
}

async function useRoute(route: Route, primary: TestCluster, standby: TestCluster) {
  if (route === 'hosts') {
    const hosts = [standby, primary].map(({ host }) => host).join(',')
    return {
      databaseUrl: `postgres://cartwright@${hosts}/shop?target_session_attrs=read-write`,
      follow: () => {}
    }
  }
  const portOf = ({ url }: TestCluster) => Number(new URL(url).port)
  const target = { host: '127.0.0.1', port: portOf(primary) }
  const proxy = await openTcpProxy(target)
  onTestFinished(proxy.close)
  const follow = () => {
    target.port = portOf(standby)
    proxy.reset()
  }
  return { databaseUrl: `postgres://cartwright@127.0.0.1:${proxy.port}/shop`, follow }
}

async function useProcess(databaseUrl: string): Promise<string> {
  const { child, listening, ended } = startProgram({ ...SETTINGS, DATABASE_URL: databaseUrl })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return listening
}

/** Reads pages of the catalog at each process, again and again: the first page of each list, and products that were read before. */
async function readPages(processes: readonly HttpClient[]) {
  const failed: string[] = []
  let count = 0
  const { items } = (await processes[0]?.send('GET', '/api/products'))?.json ?? {}
  const products: string[] = items.slice(0, 3).map(({ id }: { id: string }) => `/api/products/${id}`)
  const paths = ['/api/products', '/api/products?limit=5', '/api/categories', ...products]
  const readAll = async () => {
    for (const http of processes)
      for (const path of paths) {
        const answer = await http.send('GET', path)
        count += 1
        if (answer?.status !== 200) failed.push(`${path}: ${answer?.status} ${answer?.json?.code ?? ''}`)
      }
  }
  await readAll()
  const run = async (isStopping: () => boolean) => {
    while (!isStopping()) {
      await readAll()
      await delay(PAGES_EVERY_MS)
    }
  }
  return { run, failed, count: () => count }
}
