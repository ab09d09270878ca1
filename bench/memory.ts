/**
 * How much memory the program uses, without PostgreSQL: at rest, in an import of 20,000 products, and in a mixed load, with the
 * growth of its second half as a line that fits it. `npm run bench:memory`, seven minutes; `-- 30` loads for 30 minutes. Linux, and a C
 * compiler.
 */
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { standardModules } from '../src/app.ts'
import { migrationSources } from '../src/module.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { residentMegabytes, residentMegabytesMax } from './cpu.ts'
import { openFlood, requestOf } from './flood.ts'
import { openBench, type Started, startShop, WITHOUT_LIMITS } from './shop.ts'
import { median, print } from './tables.ts'

const REST_SECONDS = 15
const PRODUCTS = 20_000
const SAMPLE_SECONDS = 5
const CONNECTIONS = 50
/** So many requests a second keep a part of one core busy, as in production. */
const RATE = 300
const REST_MB_MAX = 100
const LOAD_MB_MAX = 200
const IMPORT_MB_MAX = 300
/** Of a minute: less is the noise of collections. */
const GROWTH_MB_MAX = 0.5
const STEP = 7_919
const TEXT = '<p>A thing of quality.</p>'.repeat(4)
const ADMIN = { email: 'boss@example.com', password: 'an uncommon engine poem' }

const minutes = Number(process.argv[2] ?? 5)
const program = process.env.PROGRAM ?? 'src/main.ts'
let isExceeded = false

const bench = await openBench()
const flood = openFlood()
try {
  await migrate(bench.databaseUrl, migrationSources(standardModules))
  const start = () =>
    startShop(
      bench.databaseUrl,
      { ...WITHOUT_LIMITS, CARTWRIGHT_ADMIN_EMAIL: ADMIN.email, CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password },
      { main: program }
    )
  print(`The program is ${program}.\n\n| when | MB | at most |\n|---|---:|---:|`)
  const importing = await start()
  await delay(REST_SECONDS * 1_000)
  row(`at rest, ${REST_SECONDS} s after the start`, residentMegabytes(importing.pid), REST_MB_MAX)
  await importProducts(importing)
  row(`highest in an import of ${PRODUCTS} products`, residentMegabytesMax(importing.pid), IMPORT_MB_MAX)
  await importing.stop()
  const loaded = await start()
  await measureLoad(loaded)
  await loaded.stop()
} finally {
  await flood.close()
  await bench.close()
}
if (isExceeded) process.exitCode = 1

function row(when: string, megabytes: number, limit: number): void {
  const isAbove = megabytes > limit
  isExceeded ||= isAbove
  print(`| ${when} | ${megabytes.toFixed(1)}${isAbove ? ' **above**' : ''} | ${limit} |`)
}

async function importProducts({ url }: Started): Promise<void> {
  const { access_token } = await json(
    await fetch(`${url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ADMIN)
    })
  )
  function* rows() {
    yield 'Handle,Title,Body (HTML),Option1 Name,Option1 Value,Variant SKU,Variant Price\n'
    for (let n = 1; n <= PRODUCTS; n += 1)
      yield [`thing-${n}`, `Thing ${n}`, TEXT, 'Title', 'Default Title', `T-${n}`, `${n % 90}.50\n`].join()
  }
  const { errors } = await json(
    await fetch(`${url}/api/catalog/import`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', authorization: `Bearer ${access_token}` },
      body: Readable.toWeb(Readable.from(rows())) as never,
      duplex: 'half'
    } as RequestInit)
  )
  if (errors.length > 0) throw new Error(JSON.stringify(errors).slice(0, 500))
}

/** Lists, searches, product pages, further pages, and first carts of guests. */
async function measureLoad({ url, pid }: Started): Promise<void> {
  const requests = await mixedRequests(url)
  const samples: { minute: number; megabytes: number }[] = []
  const startedAt = performance.now()
  const load = flood.run({ url, requests, connections: CONNECTIONS, rate: RATE, seconds: minutes * 60 })
  let isRunning = true
  const ended = load.finally(() => {
    isRunning = false
  })
  while (isRunning) {
    await Promise.race([ended, delay(SAMPLE_SECONDS * 1_000)])
    samples.push({
      minute: (performance.now() - startedAt) / 60_000,
      megabytes: residentMegabytes(pid)
    })
  }
  const { good, sent } = await ended
  if (good < sent * 0.95) throw new Error(`only ${good} of ${sent} requests succeeded`)
  const settled = samples.slice(Math.floor(samples.length / 2))
  row(`highest in ${minutes} minutes of mixed load`, residentMegabytesMax(pid), LOAD_MB_MAX)
  row('median of its second half', median(settled.map(({ megabytes }) => megabytes)), LOAD_MB_MAX)
  row('growth of its second half, a minute', slopeOf(settled), GROWTH_MB_MAX)
  print(`\n${good} requests, ${Math.round(good / minutes / 60)} a second.`)
}

async function mixedRequests(url: string): Promise<string[]> {
  const { rows } = await bench.client.query<{ id: string }>('select id from catalog.variants')
  const requests = rows.map(({ id }) =>
    requestOf('POST', '/api/guest-cart', { body: { variant_id: id, quantity: 2 } })
  )
  let path = '/api/products?limit=100'
  for (;;) {
    const { items, next_cursor } = await json(await fetch(url + path))
    for (const { slug } of items) requests.push(requestOf('GET', `/api/products/${slug}`))
    requests.push(requestOf('GET', path), requestOf('GET', '/api/products'))
    requests.push(requestOf('GET', `/api/products?q=${items[0].slug}`))
    if (next_cursor === null) break
    path = `/api/products?limit=100&cursor=${next_cursor}`
  }
  // A step that shares no factor with their number mixes the kinds.
  return requests.map((_, index) => requests[(index * STEP) % requests.length] as string)
}

/** The growth a minute of the line with the least squares of distances. */
function slopeOf(samples: readonly { minute: number; megabytes: number }[]): number {
  const mean = (of: (sample: (typeof samples)[number]) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length
  const [minute, megabytes] = [mean(each => each.minute), mean(each => each.megabytes)]
  return (
    mean(each => (each.minute - minute) * (each.megabytes - megabytes)) /
    mean(each => (each.minute - minute) ** 2)
  )
}

// biome-ignore lint/suspicious/noExplicitAny: responses of the API
async function json(response: Response): Promise<any> {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`)
  return response.json()
}
