/**
 * What `GET /api/cart` costs, compared with the yardstick in one run: `npm run bench`. `npm run bench -- grow` shows how the
 * cost grows with lines, variants, carts, connections and counters. It takes some 20 minutes; `-- lines` and so on run one of
 * the tables. `-- markets`: carts in three markets against those in the default one. Linux only: CPU time is read from /proc.
 * Compare within a table only.
 */
import { cpus } from 'node:os'
import { standardModules } from '../src/app.ts'
import { migrationSources } from '../src/module.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { residentMegabytes } from './cpu.ts'
import { bytesOfPrices, MARKETS, openMarkets } from './markets.ts'
import { type Cost, compare, total } from './measure.ts'
import {
  type Counted,
  countAll,
  fillShop,
  openBench,
  registerUsers,
  type Size,
  startShop,
  startYardstick,
  WITHOUT_LIMITS
} from './shop.ts'

type Scenario = Size & { connections: number; counted: Counted }

const BASE: Scenario = { lines: 5, variants: 10_000, carts: 10_000, connections: 32, counted: 'nothing' }
const USERS = 256
const GROW: Record<string, Scenario[]> = {
  lines: [1, 5, 50, 200].map(lines => ({ ...BASE, lines })),
  variants: [1_000, 10_000, 100_000, 1_000_000].map(variants => ({ ...BASE, variants })),
  carts: [1_000, 10_000, 100_000, 1_000_000].map(carts => ({ ...BASE, carts })),
  counted: (['off', 'nothing', 'all'] as const).map(counted => ({ ...BASE, counted })),
  connections: [1, 8, 32, 128, 256].map(connections => ({ ...BASE, connections }))
}

const wanted = process.argv.slice(2)
const grown = Object.entries(GROW).filter(([name]) => wanted.includes('grow') || wanted.includes(name))
const tables = grown.length > 0 ? grown : [['base', [BASE]] as const]
const [rounds, seconds] = [5, 3]
const bench = await openBench()
try {
  await migrate(bench.databaseUrl, migrationSources(standardModules))
  const first = await startShop(bench.databaseUrl, WITHOUT_LIMITS)
  const users = await registerUsers(first.url, USERS)
  const jwks = (await (await fetch(`${first.url}/.well-known/jwks.json`)).json()) as { keys: unknown[] }
  await first.stop()

  print(
    `${cpus().length} cores (${cpus()[0]?.model}), Node ${process.version}; CPU in us a request, median of ${rounds} rounds`
  )
  if (wanted.includes('markets')) await runMarkets(users)
  else
    for (const [name, scenarios] of tables) {
      print(
        `\n| ${name} | yardstick: program + database | cartwright: program + database | ratio | requests/s | RSS |`
      )
      print('|---|---|---|---|---|---|')
      for (const scenario of scenarios) await run(name, scenario, users, jwks.keys[0])
    }
} finally {
  await bench.close()
}

/** The same carts in the same process: with the catalog's prices, and with those of three lists. */
async function runMarkets(users: { id: string; token: string }[]) {
  const userIds = users.map(user => user.id)
  print('\n| lines | default market: program + database | the same, named | three markets in turn | ratio |')
  print('|---:|---|---|---|---|')
  for (const lines of [5, 50]) {
    await fillShop(bench.client, { ...BASE, lines }, userIds)
    await bench.client.query('truncate pricing.price_lists cascade')
    await openMarkets(bench.client)
    const shop = await startShop(bench.databaseUrl)
    try {
      const tokens = users.map(user => user.token)
      const load = { path: '/api/cart', tokens, connections: BASE.connections, seconds }
      const named = { ...shop, paths: ['/api/cart?market=default'] }
      const three = { ...shop, paths: MARKETS.map(code => `/api/cart?market=${code}`) }
      const costs = await compare([shop, named, three], bench.databasePids, load, rounds)
      const [plain, , priced] = costs as [Cost, Cost, Cost]
      const ratio = (total(priced) / total(plain)).toFixed(2)
      print(`| ${lines} | ${costs.map(parts).join(' | ')} | **${ratio}** |`)
    } finally {
      await shop.stop()
    }
  }
  const bytes = await bytesOfPrices(60_000, MARKETS.length)
  print(`\nA variant takes ${Math.round(bytes)} bytes of memory for each list that has two prices of it.`)
}

async function run(name: string, scenario: Scenario, users: { id: string; token: string }[], jwk: unknown) {
  await fillShop(
    bench.client,
    scenario,
    users.map(user => user.id)
  )
  if (scenario.counted === 'all') await countAll(bench.client)
  const yardstick = await startYardstick(bench.databaseUrl, jwk)
  const isCounting = String(scenario.counted !== 'off')
  const shop = await startShop(bench.databaseUrl, { CARTWRIGHT__MODULES__INVENTORY__ENABLED: isCounting })
  try {
    const tokens = users.map(user => user.token)
    const load = { path: '/api/cart', tokens, connections: scenario.connections, seconds }
    const [theirs, ours] = (await compare([yardstick, shop], bench.databasePids, load, rounds)) as [
      Cost,
      Cost
    ]
    const label = name === 'base' ? '5 lines' : String(scenario[name as keyof Scenario])
    const rates = `${Math.round(theirs.requestsPerSecond)} / ${Math.round(ours.requestsPerSecond)}`
    const memory = `${Math.round(residentMegabytes(shop.pid))} MB`
    const ratio = (total(ours) / total(theirs)).toFixed(2)
    print(`| ${label} | ${parts(theirs)} | ${parts(ours)} | **${ratio}** | ${rates} | ${memory} |`)
  } finally {
    await Promise.all([yardstick.stop(), shop.stop()])
  }
}

function parts(cost: Cost): string {
  const [program, database] = [cost.programMicroseconds, cost.databaseMicroseconds].map(Math.round)
  return `${Math.round(total(cost))} = ${program} + ${database}`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
