/**
 * What an order costs: `npm run bench:orders`, or with the names of some parts (`rate`, `lines`, `grow`, `placed`). The shop is as its users
 * run it, every module on, everything counted; orders are paid later. Needs pgbench and a C compiler.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { STOCKHOLM } from '../test/support/checkouts.ts'
import { untilPurchasesAreHandled } from '../test/support/purchases.ts'
import { openFlood } from './flood.ts'
import { CASH_ON_DELIVERY, fillCarts, ORDER_SETTINGS, openPost, orderRequests } from './order-load.ts'
import { comparePurchases } from './purchases.ts'
import { type Bench, countAll, fillShop, openBench, registerUsers, type Started, startShop } from './shop.ts'
import { print, table } from './tables.ts'

const ROUNDS = 5
const SECONDS = 1
/** So many seconds of orders until the program is compiled: then it does a fifth more of them than in the second one (2026-11). */
const WARM_RUNS = 8
/** Each orders once a round, so there are more of them than a round can serve. */
const USERS = 2_000
const CONNECTIONS = 16
const VARIANTS = 10_000
const LINE_ROUNDS = 120
const WARM_ROUNDS = 20
const GROWTH = [1_000, 10_000, 100_000, 1_000_000]

type User = { id: string; token: string }
type Setting = { bench: Bench; shop: Started; users: User[]; variantIds: string[] }

const run = promisify(execFile)
const parts = { rate, lines, grow }
const wanted = process.argv.slice(2)
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name)
if (isWanted('placed')) {
  print('\n## placed\n')
  await comparePurchases(ORDER_SETTINGS, openPost)
}
if (wanted.join() === 'placed') process.exit()
const flood = openFlood()
const bench = await openBench({ connectionsMax: 100 })
try {
  const setting = await open(bench)
  for (const [name, measure] of Object.entries(parts)) {
    if (!isWanted(name)) continue
    print(`\n## ${name}\n`)
    await measure(setting)
  }
  await setting.shop.stop()
} finally {
  await flood.close()
  await bench.close()
}

async function open(bench: Bench): Promise<Setting> {
  const first = await startShop(bench.databaseUrl, ORDER_SETTINGS)
  await openPost(first)
  const users = await registerUsers(first.url, isWanted('rate') ? USERS : 10)
  await first.stop()
  const ids = users.map(({ id }) => id)
  await fillShop(bench.client, { lines: 5, variants: VARIANTS, carts: ids.length }, ids)
  await countAll(bench.client)
  const { rows } = await bench.client.query<{ id: string }>('select id from catalog.variants')
  return {
    bench,
    users,
    variantIds: rows.map(({ id }) => id),
    shop: await startShop(bench.databaseUrl, ORDER_SETTINGS)
  }
}

/**
 * Orders a second on 16 connections, against the transactions that pgbench does of its own kind ("TPC-B-like"): carts of 5 lines
 * of all variants, such carts that have a variant in common, and orders by cash on delivery, which are placed. The time of those ends
 * when their last mail is sent.
 */
async function rate({ bench: { client, databaseUrl }, shop, users, variantIds }: Setting): Promise<void> {
  await run('pgbench', ['-i', '-q', '-s', '30', databaseUrl])
  const [hot = ''] = variantIds
  const sql = async (text: string) => (await client.query(text)).rows
  const ordersOf = async (common: string | null, payment?: object) => {
    await fillCarts(client, variantIds, common)
    const requests = orderRequests(users, payment)
    const load = { url: shop.url, connections: CONNECTIONS, rate: 0, seconds: SECONDS, requests }
    const { sent, good, refused, other, failed } = await flood.run(load)
    if (sent > users.length) throw new Error(`${sent} were sent: there are too few carts`)
    if (refused + other + failed > 0) throw new Error(`${refused + other + failed} orders were refused`)
    const sentAt = performance.now()
    if (payment !== undefined) await untilPurchasesAreHandled(sql)
    return good / (SECONDS + (performance.now() - sentAt) / 1_000)
  }
  await pgbench(databaseUrl)
  for (let run = 0; run < WARM_RUNS; run += 1) {
    await ordersOf(null)
    await ordersOf(null, CASH_ON_DELIVERY)
    // Then statements are planned for what there is, as an hour later in a shop.
    if (run === 0) await client.query('vacuum analyze')
  }
  const measured: Record<string, number[]> = {
    pgbench: [],
    'many variants': [],
    'one in common': [],
    'cash on delivery': []
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    measured.pgbench?.push(await pgbench(databaseUrl))
    measured['many variants']?.push(await ordersOf(null))
    measured['one in common']?.push(await ordersOf(hot))
    measured['cash on delivery']?.push(await ordersOf(null, CASH_ON_DELIVERY))
  }
  table('1/s', measured, 'pgbench')
}

async function pgbench(databaseUrl: string): Promise<number> {
  const args = ['-n', '-M', 'prepared', '-c', String(CONNECTIONS), '-j', '2', '-T', '3', databaseUrl]
  const { stdout } = await run('pgbench', args)
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
}

/** How long an order takes, one after the other, by its lines. */
async function lines({ shop, users, variantIds }: Setting): Promise<void> {
  const measured: Record<string, number[]> = {}
  const counts = [1, 5, 50, 200]
  for (const count of counts) measured[`${count} lines`] = []
  for (let round = 0; round <= LINE_ROUNDS; round += 1)
    for (const count of counts) {
      const first = Math.floor(Math.random() * (variantIds.length - count))
      const items = variantIds.slice(first, first + count).map(variant_id => ({ variant_id, quantity: 1 }))
      const milliseconds = await timeOrder(shop, users[round % users.length] as User, items)
      if (round > WARM_ROUNDS) measured[`${count} lines`]?.push(milliseconds)
    }
  table('ms', measured, '5 lines')
}

async function timeOrder({ url }: Started, { token }: User, items: object[]): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ items, shipping_address: STOCKHOLM })
  const startedAt = performance.now()
  const response = await fetch(`${url}/api/orders`, { method: 'POST', headers, body })
  const text = await response.text()
  const milliseconds = performance.now() - startedAt
  if (response.status !== 201) throw new Error(`${response.status} ${text}`)
  return milliseconds
}

/** What an order, a page of a customer's orders and one of them take among others. */
async function grow({ bench: { client }, shop, users, variantIds }: Setting): Promise<void> {
  const user = users.at(-1) as User
  const items = variantIds.slice(0, 5).map(variant_id => ({ variant_id, quantity: 1 }))
  const get = async (path: string) => {
    const startedAt = performance.now()
    const response = await fetch(`${shop.url}/api/orders${path}`, {
      headers: { authorization: `Bearer ${user.token}` }
    })
    const page = await response.json()
    return { page: page as { items: { id: string }[] }, milliseconds: performance.now() - startedAt }
  }
  for (let count = 0; count < 30; count += 1) await timeOrder(shop, user, items)
  const { page } = await get('')
  const measured: Record<string, Record<string, number[]>> = { order: {}, list: {}, one: {} }
  for (const others of GROWTH) {
    await fillOrders(client, others)
    const figures: Record<string, number[]> = { order: [], list: [], one: [] }
    for (let round = 0; round <= LINE_ROUNDS; round += 1) {
      const times = {
        order: await timeOrder(shop, users[round % users.length] as User, items),
        list: (await get('')).milliseconds,
        one: (await get(`/${page.items[0]?.id}`)).milliseconds
      }
      if (round > WARM_ROUNDS) for (const [name, time] of Object.entries(times)) figures[name]?.push(time)
    }
    for (const [name, times] of Object.entries(figures))
      (measured[name] as Record<string, number[]>)[`${others} orders`] = times
  }
  for (const [name, rows] of Object.entries(measured)) {
    print(`\n${name}\n`)
    table('ms', rows, `${GROWTH[0]} orders`)
  }
}

/** Until there are so many, each with a line, some of each state. */
async function fillOrders(client: Bench['client'], wanted: number): Promise<void> {
  await client.query(
    `with made as (
       insert into orders.orders (id, number, state, terms, customer_id, buyer, email, market, currency, subtotal,
         discount_total, shipping_total, tax_total, tax_added, cash_rounding, total, payment_status,
         fulfillment_status, placed_at)
       select gen_random_uuid(), 'X' || i, case when i % 50 = 0 then 'pending' else 'placed' end, 'prepaid', customer, customer::text,
         'buyer@example.com', 'default', 'USD', 1000, 0, 0, 0, 0, 0, 1000, 'paid', 'none', now()
       from (select i, md5((i % 100000)::text)::uuid as customer
             from generate_series((select count(*) from orders.orders) + 1, $1) i) numbers
       returning id
     ), grouped as (
       insert into orders.groups (order_id, group_key, method) select id, 'goods', 'shipping' from made returning order_id
     )
     insert into orders.lines (order_id, line, group_key, variant_id, product_id, sku, name, variant_name, slug, attributes,
       requires_shipping, weight_grams, unit_price, discounted_price, ordered)
     select order_id, 1, 'goods', order_id, order_id, 'sku', 'name', 'name', 'slug', '{}', true, 0, 1000, 1000, 1 from grouped`,
    [wanted]
  )
  await client.query('vacuum analyze')
}
