/**
 * How many carts and orders a second one process, two workers of one command, and two processes with a port each can serve:
 * `npm run bench:workers` (five minutes). All compete with PostgreSQL and the load for the same cores, as on a small machine.
 * Needs a C compiler.
 */
import { cpus } from 'node:os'
import { cpuMicroseconds, serverProcesses } from './cpu.ts'
import { type Flooded, openFlood, requestOf } from './flood.ts'
import { fillCarts, ORDER_SETTINGS, openPost, orderRequests } from './order-load.ts'
import { countAll, fillShop, openBench, registerUsers, type Started, startShop } from './shop.ts'
import { median, print } from './tables.ts'

const USERS = 2_000
const VARIANTS = 10_000
const CONNECTIONS = 32
/** Each contender is started twice, because a machine is faster at one time than at another. */
const STARTS = 2
const ROUNDS = 3
const WARM_ROUNDS = 6
const CART_SECONDS = 3
const ORDER_SECONDS = 1

/** Limits are counted, and above what these customers send. */
const SETTINGS = {
  ...ORDER_SETTINGS,
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
  CARTWRIGHT__RATE_LIMIT__SECURED_PER_MINUTE: '1200'
}

type Measured = { perSecond: number; microseconds: number }
type Results = Record<'carts' | 'orders', Measured[]>

const flood = openFlood()
const bench = await openBench({ connectionsMax: 200 })
try {
  const first = await startShop(bench.databaseUrl, ORDER_SETTINGS)
  await openPost(first)
  const users = await registerUsers(first.url, USERS)
  await first.stop()
  const size = { lines: 5, variants: VARIANTS, carts: users.length }
  await fillShop(
    bench.client,
    size,
    users.map(({ id }) => id)
  )
  await countAll(bench.client)
  const { rows } = await bench.client.query<{ id: string }>('select id from catalog.variants')
  const variantIds = rows.map(({ id }) => id)

  const start = (workers: number) => startShop(bench.databaseUrl, SETTINGS, { workers })
  const contenders: Record<string, () => Promise<Started[]>> = {
    'one process': async () => [await start(1)],
    '`--workers 2`': async () => [await start(2)],
    'two processes': async () => [await start(1), await start(1)]
  }
  const results: Record<string, Results> = {}
  for (let time = 0; time < STARTS; time += 1)
    for (const [name, open] of Object.entries(contenders)) {
      const shops = await open()
      results[name] ??= { carts: [], orders: [] }
      await measure(shops, users, variantIds, results[name])
      for (const shop of shops) await shop.stop()
    }

  print(`${cpus().length} cores (${cpus()[0]?.model}), Node ${process.version}, ${CONNECTIONS} connections\n`)
  print('| | carts/s | CPU us a cart | orders/s | CPU us an order |\n|---|---:|---:|---:|---:|')
  const basis = results['one process'] as Results
  for (const [name, { carts, orders }] of Object.entries(results)) {
    const cells = [cellsOf(carts, basis.carts), cellsOf(orders, basis.orders)].flat()
    print(`| ${name} | ${cells.join(' | ')} |`)
  }
} finally {
  await flood.close()
  await bench.close()
}

/** Median rate with its ratio to the basis, and median CPU time of the programs and of PostgreSQL. */
function cellsOf(all: readonly Measured[], basis: readonly Measured[]): string[] {
  const rateOf = (some: readonly Measured[]) => median(some.map(({ perSecond }) => perSecond))
  const ratio = (rateOf(all) / rateOf(basis)).toFixed(2)
  const cost = median(all.map(({ microseconds }) => microseconds))
  return [`${Math.round(rateOf(all))} (**${ratio}**)`, String(Math.round(cost))]
}

async function measure(
  shops: readonly Started[],
  users: readonly { token: string }[],
  variantIds: readonly string[],
  results: Results
): Promise<void> {
  const carts = users.map(({ token }) => requestOf('GET', '/api/cart', { token }))
  const orders = orderRequests(users)
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round += 1) {
    await fillCarts(bench.client, variantIds, null)
    if (round === 0) await bench.client.query('vacuum analyze')
    const measured = {
      carts: await run(shops, carts, CART_SECONDS),
      orders: await run(shops, orders, ORDER_SECONDS)
    }
    if (round < WARM_ROUNDS) continue
    results.carts.push(measured.carts)
    results.orders.push(measured.orders)
  }
}

/** Sends an equal part of the requests to each shop, over an equal part of the connections. */
async function run(
  shops: readonly Started[],
  requests: readonly string[],
  seconds: number
): Promise<Measured> {
  const pids = () => [...shops.flatMap(({ pid }) => serverProcesses(pid)), ...bench.databasePids()]
  const before = cpuMicroseconds(pids())
  const parts = await Promise.all(
    shops.map(({ url }, index) =>
      flood.run({
        url,
        seconds,
        rate: 0,
        connections: CONNECTIONS / shops.length,
        requests: requests.filter((_, at) => at % shops.length === index)
      })
    )
  )
  const sum = (name: 'sent' | 'good' | 'refused' | 'other' | 'failed') =>
    parts.reduce((total, part: Flooded) => total + part[name], 0)
  const bad = sum('refused') + sum('other') + sum('failed')
  if (bad > 0) throw new Error(`${bad} of ${sum('sent')} requests were refused or failed`)
  return { perSecond: sum('good') / seconds, microseconds: (cpuMicroseconds(pids()) - before) / sum('good') }
}
