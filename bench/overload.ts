/**
 * What a shop sells under more load than it can serve: `npm run bench:overload`. Arguments select some of the
 * scenarios (`slow`, `busy`, `fresh`, `refusal`, `hostile`). Linux, two cores, and a C compiler. See README.md.
 */
import { execFileSync } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { standardModules } from '../src/app.ts'
import { migrationSources } from '../src/module.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { openTcpProxy } from '../test/faults/tcp-proxy.ts'
import { cpuMicroseconds } from './cpu.ts'
import { type Flooded, openFlood, requestOf } from './flood.ts'
import { fillShop, openBench, registerUsers, startShop, WITHOUT_LIMITS } from './shop.ts'

const USERS = 256
const CONNECTIONS = 2_500
const SECONDS = 10
const bench = await openBench()
const flood = openFlood()
const scenarios = { slow, busy, fresh, refusal, hostile }
const wanted = process.argv.slice(2)

try {
  await migrate(bench.databaseUrl, migrationSources(standardModules))
  const first = await startShop(bench.databaseUrl, WITHOUT_LIMITS)
  const users = await registerUsers(first.url, USERS)
  const ids = users.map(user => user.id)
  await fillShop(bench.client, { lines: 5, variants: 10_000, carts: 10_000 }, ids)
  await first.stop()
  const reads = users.map(({ token }) => requestOf('GET', '/api/cart', { token }))
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    print(`\n## ${name}`)
    await scenario(
      reads,
      users.map(user => user.token)
    )
  }
} finally {
  await flood.close()
  await bench.close()
}

/** A database 50 ms away, and changes of carts, which take several steps there: some 400 a second. */
async function slow(_reads: readonly string[], tokens: readonly string[]): Promise<void> {
  const database = new URL(bench.databaseUrl)
  const proxy = await openTcpProxy(addressOf(database))
  proxy.slow('to_program', 50)
  const shop = await startShop(
    `postgres://${database.username}@127.0.0.1:${proxy.port}${database.pathname}`,
    {
      CARTWRIGHT__DATABASE__POOL_SIZE: '64'
    }
  )
  try {
    const requests = tokens.map(token => requestOf('DELETE', '/api/cart', { token }))
    const load = { url: shop.url, requests, seconds: SECONDS }
    await flood.run({ ...load, connections: 64, rate: 0 })
    const capacity = rateOf(await flood.run({ ...load, connections: 64, rate: 0 }))
    print(`capacity ${Math.round(capacity)}/s`)
    header()
    for (const times of [2, 5, 10])
      row(`${times} x`, await flood.run({ ...load, connections: 1_000, rate: capacity * times }), capacity)
  } finally {
    await shop.stop()
    await proxy.close()
  }
}

/** Program and database share one core; the load has the other. */
async function busy(reads: readonly string[]): Promise<void> {
  for (const pid of bench.databasePids()) execFileSync('taskset', ['-cp', '0', String(pid)])
  const shop = await startShop(bench.databaseUrl, {}, { core: 0 })
  try {
    const load = { url: shop.url, requests: reads, core: 1, seconds: SECONDS }
    await flood.run({ ...load, connections: 128, rate: 0 })
    const capacity = rateOf(await flood.run({ ...load, connections: 128, rate: 0 }))
    print(`capacity ${Math.round(capacity)}/s`)
    header()
    row('2 x', await flood.run({ ...load, connections: CONNECTIONS, rate: capacity * 2 }), capacity)
    await reasons(shop.url)
  } finally {
    await shop.stop()
  }
}

/** A process that has just started, under as much as it can do, and the same load when it is warm. */
async function fresh(reads: readonly string[]): Promise<void> {
  for (const pid of bench.databasePids()) execFileSync('taskset', ['-cp', '0', String(pid)])
  const warm = await startShop(bench.databaseUrl, {}, { core: 0 })
  const load = { requests: reads, core: 1, connections: CONNECTIONS }
  await flood.run({ ...load, url: warm.url, connections: 128, rate: 0, seconds: SECONDS })
  const rate = rateOf(await flood.run({ ...load, url: warm.url, connections: 128, rate: 0, seconds: 5 }))
  await warm.stop()
  const shop = await startShop(bench.databaseUrl, {}, { core: 0 })
  try {
    const cold = await flood.run({ ...load, url: shop.url, rate, seconds: 22 })
    const then = rateOf(await flood.run({ ...load, url: shop.url, rate, seconds: SECONDS }))
    print(
      `offered ${Math.round(rate)}/s; warm ${Math.round(then)}/s; by second from the start, as a share of that:`
    )
    print(cold.by_second.map(good => (good / then).toFixed(2)).join(' '))
  } finally {
    await shop.stop()
  }
}

/** CPU for a refusal, program and database, against that of a cart; each measured on a new process. */
async function refusal(reads: readonly string[]): Promise<void> {
  const costOf = async (settings: Record<string, string>): Promise<number> => {
    const shop = await startShop(bench.databaseUrl, settings)
    const used = () => cpuMicroseconds([shop.pid, ...bench.databasePids()])
    try {
      const load = { url: shop.url, requests: reads, connections: 256, rate: 0 }
      await flood.run({ ...load, seconds: 5 })
      const before = used()
      const { good, refused } = await flood.run({ ...load, seconds: 3 })
      if (good + refused === 0) throw new Error('nothing was served or refused')
      return (used() - before) / (good + refused)
    } finally {
      await shop.stop()
    }
  }
  const rounds = []
  for (let round = 0; round < 5; round += 1) {
    const cart = await costOf({})
    // There is one request slot, and its request waits for a lock, so nearly every request is refused.
    await bench.client.query('begin; lock table cart.items in access exclusive mode')
    const refused = await costOf({ CARTWRIGHT__SERVER__CONCURRENT_REQUESTS_MAX: '1' })
    await bench.client.query('rollback')
    rounds.push({ cart, refused, ratio: refused / cart })
  }
  rounds.sort((one, other) => one.ratio - other.ratio)
  const { cart, refused } = rounds[2] as (typeof rounds)[number]
  const ratios = rounds.map(({ ratio }) => ratio.toFixed(2)).join(' ')
  print(`a cart ${cart.toFixed(1)} us, a refusal ${refused.toFixed(1)} us; ratios of five rounds: ${ratios}`)
}

/** One address does everything at once that holds things; others go on shopping. */
async function hostile(reads: readonly string[], tokens: readonly string[]): Promise<void> {
  const shop = await startShop(bench.databaseUrl)
  const sockets: Socket[] = []
  try {
    const load = { url: shop.url, requests: reads, connections: 200, seconds: SECONDS, source: '127.0.0.3' }
    const capacity = rateOf(await flood.run({ ...load, rate: 0 }))
    const rate = capacity / 4
    const alone = await flood.run({ ...load, rate })
    const read = requestOf('GET', '/api/cart', { token: tokens[0] ?? '' })
    const head = 'POST /api/guest-cart HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    const attacks = [
      `${head}Content-Length: 50\r\n\r\n{`,
      read.repeat(200),
      'GET /api/products HTTP/1.1\r\nHo',
      requestOf('GET', '/api/products?limit=100').repeat(8),
      'CONNECT x:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n'
    ]
    const attack = (index: number): void => {
      const socket = connect({
        port: Number(new URL(shop.url).port),
        host: '127.0.0.1',
        localAddress: '127.0.0.2'
      })
      sockets[index] = socket
      socket.on('error', () => {})
      // Whatever is ended comes back.
      socket.on('close', () => {
        if (!isOver) setTimeout(attack, 100, index)
      })
      socket.pause().write(attacks[index % attacks.length] as string)
    }
    let isOver = false
    for (let index = 0; index < 2_000; index += 1) attack(index)
    await delay(1_000)
    const beside = await flood.run({ ...load, rate })
    isOver = true
    print(`others, alone: ${share(alone)}; beside 2,000 hostile sockets: ${share(beside)}`)
    header()
    row('beside', beside, rate)
  } finally {
    for (const socket of sockets) socket.destroy()
    await shop.stop()
  }
}

/** Why requests were refused, and how many were worked on at once in the end. */
async function reasons(url: string): Promise<void> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const lines = metrics.match(/^cartwright_(requests_refused|request_slots|request_wait).*$/gm) ?? []
  print(lines.filter(line => !line.endsWith(' 0')).join('\n'))
}

function share({ good, sent, unsent }: Flooded): string {
  return `${((100 * good) / (sent + unsent)).toFixed(2)} % served`
}

function rateOf({ good, by_second, other }: Flooded): number {
  if (good === 0) throw new Error(`nothing was served: ${other} answers were neither 2xx nor 503`)
  return good / by_second.length
}

function addressOf({ hostname, port }: URL) {
  const host = decodeURIComponent(hostname)
  return host.startsWith('/')
    ? { path: `${host}/.s.PGSQL.${port || 5432}` }
    : { host, port: Number(port) || 5432 }
}

function header(): void {
  print(
    '| offered | good/s | of capacity | refused/s | others | p50, p99 of good | /healthz p50, p99 | failed |'
  )
  print('|---|---:|---:|---:|---:|---:|---:|---:|')
}

function row(name: string, seen: Flooded, capacity: number): void {
  const seconds = seen.by_second.length
  // The first second finds the limit of what is worked on at once.
  const good = seen.by_second.slice(1).reduce((sum, each) => sum + each, 0) / (seconds - 1)
  const cells = [
    name,
    Math.round(good),
    (good / capacity).toFixed(2),
    Math.round(seen.refused / seconds),
    seen.other + seen.failed,
    `${seen.p50}, ${seen.p99} ms`,
    `${seen.health_p50}, ${seen.health_p99} ms`,
    `${seen.health_failed} of ${seen.health}`
  ]
  print(`| ${cells.join(' | ')} |`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
