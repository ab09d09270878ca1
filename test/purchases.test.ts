import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEmbeddedPostgres } from '../src/embedded-postgres/open.ts'
import { type AuthApi, authModule } from '../src/modules/auth/index.ts'
import { openTestShop } from '../src/testing.ts'
import { until } from './faults/until.ts'
import { PASSWORD } from './support/accounts.ts'
import { usePost } from './support/checkouts.ts'
import { makeDataFolder } from './support/data-folder.ts'
import { freePort } from './support/free-port.ts'
import { median } from './support/median.ts'
import { openTestSandbox } from './support/payments.ts'
import { PURCHASE_BUDGETS } from './support/purchase-budgets.ts'
import { createPurchases, PURCHASE_SETTINGS } from './support/purchases.ts'
import {
  openStatementCounter,
  type StatementCost,
  startWithStatementCounts,
  sumCosts
} from './support/statement-counts.ts'

const PURCHASES = 5
/** On a busy machine more purchases differ from the others. */
const PURCHASES_MAX = 25
const WARM_PURCHASES = 2
/** Statements whose result a process caches for a second. It repeats them when a purchase takes longer, as on a busy machine. */
const CACHED_READS = new Set(['inventory.list_available'])
/** A purchase may cost this share less than its budget. */
const MARGIN = 0.05
const ADMIN = { email: 'boss@shop.example', password: PASSWORD }
/** Nothing depends on where a checkpoint or a vacuum falls. */
const SERVER_SETTINGS = { full_page_writes: 'off', fsync: 'off', autovacuum: 'off' }

const closers: (() => Promise<unknown>)[] = []
let counter: Awaited<ReturnType<typeof openStatementCounter>>
let purchases: ReturnType<typeof createPurchases>
let holdCallbacks: () => Promise<unknown>

beforeAll(async () => {
  const parent = await mkdtemp(join(tmpdir(), 'cartwright-purchases-'))
  closers.push(() => rm(parent, { recursive: true }))
  // The server runs as another user when the tests run as root.
  await chmod(parent, 0o755)
  const folder = join(parent, 'data')
  await makeDataFolder(folder)
  const server = await startWithStatementCounts(
    () => openEmbeddedPostgres({ folder, mode: 'own' }),
    SERVER_SETTINGS
  )
  closers.push(server.stop)
  counter = await openStatementCounter(server.url)
  closers.push(counter.close)
  const port = await freePort()
  const sandbox = await openTestSandbox(port)
  closers.push(sandbox.close)
  const shop = await openTestShop({
    databaseUrl: server.url,
    runsSchedulesAtStart: false,
    settings: {
      ...PURCHASE_SETTINGS,
      CARTWRIGHT__PAYMENTS__SANDBOX__URL: sandbox.url,
      // That of users: with a longer one, transactions set their own.
      CARTWRIGHT__DATABASE__STATEMENT_TIMEOUT_MS: '5000'
    }
  })
  closers.push(shop.close)
  await shop.app.listen({ host: '127.0.0.1', port })

  const auth = shop.apiOf(authModule) as AuthApi
  await auth.createUser({ ...ADMIN, role: 'admin' })
  const adminToken = (await shop.as(null).post('/api/auth/login', ADMIN)).json.access_token
  const admin = shop.as({ token: adminToken })
  const made = async (path: string, body: object) => {
    const { status, json, text } = await admin.post(`/api/${path}`, body)
    expect(status, text).toBe(201)
    return json
  }
  await usePost((path, body) => made(`admin/${path}`, body))
  const variants = [{ sku: 'MUG', price: 1_000 }]
  const mug = (await made('catalog/products', { name: 'Mug', variants })).variants[0].id
  await admin.put(`/api/inventory/levels/${mug}`, { on_hand: 1_000 })
  const customer = { email: 'ada@example.com', password: PASSWORD }
  const customerToken = (await made('auth/register', customer)).access_token
  purchases = createPurchases({
    url: `http://127.0.0.1:${port}`,
    sql: counter.sql,
    adminToken,
    customerTokens: [customerToken],
    variantIds: [mug],
    // A callback may arrive before or after the response about the same payment. Here it always arrives after it.
    beforeCard: async orderId => {
      await sandbox.ask('/test/webhooks', { hold: false })
      const applied = `select from payments.events where payment_id = $1 and state = 'applied'`
      await until(
        'the first callback is applied',
        async () => (await counter.sql(applied, [orderId])).length > 0
      )
    }
  })
  holdCallbacks = () => sandbox.ask('/test/webhooks', { hold: true })
  for (const { buyer, payment } of PURCHASE_BUDGETS)
    for (let time = 0; time < WARM_PURCHASES; time += 1) await purchases.buy(buyer, payment)
  await purchases.untilHandled()
  await counter.sql('vacuum analyze')
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

test.each(PURCHASE_BUDGETS)(
  'a purchase of a $buyer by $payment costs what its budget says',
  async ({ buyer, payment, ...budget }) => {
    const all: StatementCost[][] = []
    const isOther = () => sumCosts(costsOf(all, usualOf)).calls !== budget.statements
    for (let time = 0; time < PURCHASES || (time < PURCHASES_MAX && isOther()); time += 1) {
      await holdCallbacks()
      await counter.reset()
      await purchases.buy(buyer, payment)
      await purchases.untilHandled()
      all.push(await counter.read())
    }
    // On a busy machine timers send statements meanwhile, and jobs that come late are handled together.
    const usual = costsOf(all, usualOf)
    const { calls, ...cost } = sumCosts(usual)
    // Pages of indexes are split now and then.
    const least = sumCosts(costsOf(all, leastOf))
    const text = `${calls} statements, ${cost.buffers} buffers, ${cost.walBytes} bytes of WAL\n${tableOf(usual)}`
    if (process.env.PRINT_PURCHASES !== undefined) console.log(text)
    expect(calls, text).toBe(budget.statements)
    for (const figure of ['buffers', 'walBytes'] as const) {
      expect(least[figure], text).toBeLessThanOrEqual(budget[figure])
      expect(cost[figure], text).toBeGreaterThan(budget[figure] * (1 - MARGIN))
    }
  }
)

const leastOf = (values: readonly number[]): number => Math.min(...values)
const usualOf = (values: readonly number[], name: string): number =>
  CACHED_READS.has(name) ? leastOf(values) : median(values)

/** What each statement costs in one purchase, chosen for each figure from what it cost in all of them. */
function costsOf(
  all: readonly StatementCost[][],
  choose: (values: readonly number[], name: string) => number
): StatementCost[] {
  const names = new Set(all.flat().map(({ name }) => name))
  return [...names].map(name => {
    const costs = all.map(each => each.find(other => other.name === name))
    const chosen = (field: 'calls' | 'buffers' | 'walBytes') =>
      choose(
        costs.map(cost => cost?.[field] ?? 0),
        name
      )
    return { name, calls: chosen('calls'), buffers: chosen('buffers'), walBytes: chosen('walBytes') }
  })
}

const tableOf = (costs: readonly StatementCost[]): string =>
  costs
    .filter(({ calls }) => calls > 0)
    .toSorted((a, b) => b.walBytes - a.walBytes)
    .map(({ name, calls, buffers, walBytes }) => `${calls} ${buffers} ${walBytes} ${name}`)
    .join('\n')
