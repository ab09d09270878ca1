import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthApi, authModule } from '../src/modules/auth/index.ts'
import { openTestShop, type TestShop } from '../src/testing.ts'
import { PASSWORD } from './support/accounts.ts'
import { BUDGETS, shapeOf } from './support/budgets.ts'
import { openBufferCounter, recordStatements, type Sent } from './support/buffers.ts'
import { createTestDatabase } from './support/database.ts'
import { doOnceMore } from './support/jobs.ts'
import { fillLargeCatalog } from './support/large-catalog.ts'
import { fillEventLog, fillLargeOrders, fillLargeStock } from './support/large-orders.ts'

/** `LARGE=1`: the size of a large shop, whose plans those of the smaller one are to be. It takes half an hour on a busy machine. */
const isLarge = process.env.LARGE === '1'
const PRODUCTS = isLarge ? 200_000 : 10_000
const ORDERS = isLarge ? 1_000_000 : 20_000
/**
 * The limit of a request that finds nothing, in the smaller shop, where the pages of a whole table can be fewer than the limit of a
 * route: payments have 438. Bounded searches read up to 373.
 */
const EMPTY_BUFFERS_MAX = 400
const TIMEOUT_MS = isLarge ? 1_800_000 : 240_000
/** Orders of the caller. */
const OWN_ORDERS = 300
const UNKNOWN = '0199aaaa-0000-7000-8000-000000000000'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let shop: TestShop
let counter: Awaited<ReturnType<typeof openBufferCounter>>
let token: string
let sent: Sent[]
let places: Record<string, string>

beforeAll(async () => {
  database = await createTestDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await fillLargeCatalog(client, PRODUCTS)
  await fillLargeOrders(client, ORDERS)
  await fillLargeStock(client)
  await fillEventLog(client)
  await client.end()

  const settings = { CARTWRIGHT__DATABASE__STATEMENT_TIMEOUT_MS: '60000' }
  shop = await openTestShop({
    databaseUrl: database.url,
    isMigrated: true,
    runsSchedulesAtStart: false,
    settings
  })
  const account = { email: 'admin@example.com', password: PASSWORD }
  const auth = shop.apiOf(authModule) as AuthApi
  const { id } = await auth.createUser({ ...account, role: 'admin' })
  token = (await shop.as(null).post('/api/auth/login', account)).json.access_token
  await shop.sql(
    `update orders.orders set customer_id = $1
     where id in (select id from orders.orders order by id desc limit ${OWN_ORDERS})`,
    [id]
  )
  const idOf = async (from: string) => (await shop.sql(`select id from ${from} limit 1`))[0]?.id as string
  const order = await idOf(`orders.orders where state = 'completed'`)
  const product = await idOf('catalog.products')
  const variant = await idOf('catalog.variants')
  places = {
    order,
    product,
    variant,
    shipment: order,
    number: 'X1',
    country: 'SE',
    name: 'order_placed',
    locale: 'en'
  }
  sent = recordStatements(shop.db).sent
  counter = await openBufferCounter(database.url)
}, TIMEOUT_MS)
afterAll(async () => {
  await counter.close()
  await shop.close()
  await database.drop()
})

/** Lets the shop store the statistics of all days with orders. */
async function storeDailyStatistics(): Promise<void> {
  await shop.sql(`update admin.beginning set at = now() - interval '366 days'`)
  const storedDays = async () =>
    (await shop.sql('select count(*)::int as days from admin.daily_statistics'))[0]?.days as number
  while ((await storedDays()) < 365) await doOnceMore(shop, 'admin.keep_days')
  await shop.sql('analyze admin.daily_statistics')
}

/** The buffers that the statements of a request read, those statements, and whether its response is an empty list. */
async function costOf(route: string, query: string) {
  const path = `${route}${query && (route.includes('?') ? '&' : '?')}${query}`
  sent.length = 0
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => places[name] ?? UNKNOWN)
  const { result, statements } = await shop.record(() => shop.request('GET', filled, { token }))
  const { status, text, json } = result
  expect(status, `${path}: ${text}`).toBeLessThan(500)
  const costs: Record<string, number> = {}
  // What jobs and timers of the shop sent meanwhile is not of the request.
  for (const each of [...sent].filter(({ statement }) => statements.includes(statement.name)))
    costs[each.statement.name] = (costs[each.statement.name] ?? 0) + (await counter.count(each))
  const buffers = Object.values(costs).reduce((sum, cost) => sum + cost, 0)
  return { path, buffers, costs, isEmpty: json?.items?.length === 0 }
}

test('every GET route has a limit for the database buffers it reads, or a reason why it has none', async () => {
  const { json } = await shop.request('GET', '/openapi.json')
  const routes = Object.entries(json.paths as Record<string, object>).flatMap(([path, methods]) =>
    'get' in methods ? [shapeOf(path)] : []
  )
  expect(routes.length).toBeGreaterThan(100)
  expect(Object.keys(BUDGETS).map(shapeOf).toSorted()).toEqual(routes.toSorted())
})

test('no request reads more database buffers than the limit of its route', {
  timeout: TIMEOUT_MS
}, async () => {
  await storeDailyStatistics()
  const over: unknown[] = []
  let [requests, statements] = [0, 0]
  for (const [route, budget] of Object.entries(BUDGETS)) {
    if ('unbounded' in budget) continue
    for (const query of ['', ...budget.queries]) {
      const cost = await costOf(route, query)
      requests += 1
      statements += Object.keys(cost.costs).length
      const limit = cost.isEmpty && !isLarge ? Math.min(budget.buffers, EMPTY_BUFFERS_MAX) : budget.buffers
      if (cost.buffers > limit) over.push(cost)
    }
  }
  expect(over).toEqual([])
  expect([requests > 250, statements > 300]).toEqual([true, true])
})
