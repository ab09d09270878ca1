import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../support/database.ts'
import { freePort } from '../../support/free-port.ts'
import { startHaproxyOrStandIn } from '../../support/haproxy.ts'
import { createHttpClient } from '../../support/http-client.ts'
import { type Program, startProgram } from '../../support/program.ts'
import { runSql } from '../../support/sql.ts'
import { findWrongOrders } from '../failover/orders.ts'
import { until } from '../until.ts'
import { type MixedLoad, openMixedLoad } from './load.ts'

// Lane long: it takes 15 seconds. test/workers.test.ts replaces workers under load.

const PROCESSES = 3
const STAFF = { email: 'boss@example.com', password: 'an uncommon sentence' }
const SETTINGS = {
  CARTWRIGHT_ADMIN_EMAIL: STAFF.email,
  CARTWRIGHT_ADMIN_PASSWORD: STAFF.password,
  CARTWRIGHT__SERVER__DRAIN_SECONDS: '2',
  CARTWRIGHT__SERVER__TRUST_PROXY: 'true',
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__AUTH__ACCESS_TOKEN_SECONDS: '86400',
  CARTWRIGHT__CART__LINE_QUANTITY_MAX: '100000',
  CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '["bank_transfer"]',
  CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1000000',
  CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000000',
  CARTWRIGHT__LOG__LEVEL: 'error',
  CARTWRIGHT__SHOP__DEMO: 'on'
}
const SOCKETS = 500
/** `npm run faults:rolling`: three times at 60 % of what the processes can do. The tests: once, with a few clients that pause. */
const RUNS_ALL = process.env.ROLLINGS === 'all'
const ROUNDS = RUNS_ALL ? 3 : 1
const FEW = { clients: 3, pauseMs: 150 }
const CAPACITY_SHARE = 0.6
const CAPACITY_CLIENTS = 32
const CAPACITY_SECONDS = 8
const WARM_UPS = 2

/** Processes of one shop behind HAProxy. */
async function useShopBehindBalancer() {
  const database = await createTestDatabase()
  const running: Program[] = []
  onTestFinished(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    for (const { ended } of running) await ended
    await database.drop()
  })
  const start = async (port: string) => {
    const program = startProgram({ ...SETTINGS, DATABASE_URL: database.url, PORT: port })
    running.push(program)
    return { port, program, address: await program.listening }
  }
  const processes: Awaited<ReturnType<typeof start>>[] = []
  // The first process creates the demo shop, so the others start after it.
  while (processes.length < PROCESSES) processes.push(await start(String(await freePort())))
  const balancer = await startHaproxyOrStandIn(processes.map(({ address }) => address))
  onTestFinished(balancer.close)
  const http = createHttpClient(balancer.origin, SOCKETS)
  onTestFinished(http.close)
  await until(
    'the balancer has a process',
    async () => (await http.send('GET', '/api/products'))?.status === 200
  )

  /** Replaces one process after the other, as docs/proxy.md describes it. */
  async function restartAll() {
    for (const [index, { port, program }] of processes.entries()) {
      program.child.kill('SIGTERM')
      expect((await program.ended).code).toBe(0)
      const next = await start(port)
      processes[index] = next
      await until('the balancer sends requests to the new process', () => servesVisitors(next.address))
    }
  }
  return { databaseUrl: database.url, balancer: balancer.name, http, restartAll }
}

/** Whether a process has answered a request for products. */
async function servesVisitors(address: string): Promise<boolean> {
  const metrics = await (await fetch(`${address}/metrics`)).text()
  return /^http_request_duration_seconds_count\{.*route="\/api\/products".*\} [1-9]/m.test(metrics)
}

test('restarting three processes one after another behind a load balancer fails no request and loses no order', {
  timeout: 300_000
}, async () => {
  const { databaseUrl, balancer, http, restartAll } = await useShopBehindBalancer()
  const load = await openMixedLoad(http, STAFF, RUNS_ALL ? 50 : FEW.clients)
  const rate = RUNS_ALL ? CAPACITY_SHARE * (await measureCapacity(load)) : undefined
  for (let round = 0; round < ROUNDS; round += 1) {
    let isOver = false
    const startedAt = performance.now()
    const ordersBefore = load.orders.length
    const running =
      rate === undefined
        ? load.runClients(FEW.clients, FEW.pauseMs, () => isOver)
        : load.runAtRate(rate, () => isOver)
    try {
      await restartAll()
    } finally {
      isOver = true
      await running
    }
    const record = load.takeRecord()
    const orders = load.orders.length - ordersBefore
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    console.log(JSON.stringify({ balancer, seconds, orders, ...record }))
    expect(record.failed).toEqual([])
    if (RUNS_ALL) expect(record.overloaded).toBe(0)
    expect(orders).toBeGreaterThan(0)
  }
  expect(await findWrongOrders(load.orders, text => runSql(databaseUrl, text))).toEqual([])
})

/** Visits a second that warm processes serve when clients do not pause. */
async function measureCapacity(load: MixedLoad): Promise<number> {
  let capacity = 0
  for (let run = 0; run <= WARM_UPS; run += 1) {
    const endAt = performance.now() + CAPACITY_SECONDS * 1_000
    capacity = await load.runClients(CAPACITY_CLIENTS, 0, () => performance.now() > endAt)
  }
  console.log(JSON.stringify({ capacity, ...load.takeRecord() }))
  return capacity
}
