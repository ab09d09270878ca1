/**
 * What lists and searches of products cost: every combination of filter and order over HTTP, uncached, on 20,000
 * products, beside an uncached product page. `npm run bench:lists`, a minute or two. One request at a time.
 */
import { modules } from '../src/app.ts'
import { migrationSources } from '../src/module.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { fillLargeCatalog, LARGE_CATALOG } from '../test/support/large-catalog.ts'
import { openBench, startShop } from './shop.ts'

const TRIES = 9
const MS_MAX = 25
const RATIO_MAX = 20
const ORDERS = ['newest', 'name', 'price', '-price'] as const

const bench = await openBench()
try {
  await migrate(bench.databaseUrl, migrationSources(modules))
  await fillLargeCatalog(bench.client)
  const shop = await startShop(bench.databaseUrl, { CARTWRIGHT__CATALOG__PAGE_CACHE_SECONDS: '0' })
  try {
    await measureAll(`${shop.url}/api/products`)
  } finally {
    await shop.stop()
  }
} finally {
  await bench.close()
}

async function measureAll(url: string): Promise<void> {
  for (let each = 0; each < 300; each += 1) await get(`${url}?q=thing&tag=t1&sort=name`)
  const page = await medianOf(`${url}/product-777`)
  const measured: { ms: number; query: string }[] = []
  for (const query of questions()) {
    measured.push({ ms: await medianOf(`${url}?${query}`), query })
    if (query.includes('count')) continue
    const deep = await deepCursor(url, query)
    if (deep !== undefined)
      measured.push({ ms: await medianOf(`${url}?${query}&cursor=${deep}`), query: `${query} (further on)` })
  }
  measured.sort((a, b) => b.ms - a.ms)
  const at = (share: number) => measured[Math.floor((measured.length - 1) * (1 - share))]?.ms ?? 0
  print(
    `A product page takes ${page.toFixed(2)} ms. Lists, median of ${TRIES}, of ${measured.length} questions:\n`
  )
  print('| | ms | product pages |\n|---|---:|---:|')
  for (const [name, share] of [
    ['half of them', 0.5],
    ['nine in ten', 0.9],
    ['99 in 100', 0.99],
    ['all', 1]
  ] as const)
    print(`| ${name}, at most | ${at(share).toFixed(2)} | ${(at(share) / page).toFixed(1)} |`)
  for (const { ms, query } of measured.slice(0, 12))
    print(`| \`${query}\` | ${ms.toFixed(2)} | ${(ms / page).toFixed(1)} |`)
  const missed = measured.filter(({ ms }) => ms > MS_MAX || ms > RATIO_MAX * page).length
  print(`\n${missed} of ${measured.length} took more than ${MS_MAX} ms or ${RATIO_MAX} product pages.`)
}

function* questions(): Generator<string> {
  for (const q of LARGE_CATALOG.words)
    for (const tag of LARGE_CATALOG.tags)
      for (const category of LARGE_CATALOG.categories)
        for (const [min_price, max_price] of LARGE_CATALOG.prices) {
          const given = { q: q?.replaceAll('%', ''), tag, category, min_price, max_price }
          const filters = Object.entries(given).flatMap(([name, value]) =>
            value == null ? [] : [`${name}=${value}`]
          )
          for (const sort of ORDERS) yield [...filters, `sort=${sort}`].join('&')
          yield [...filters, 'count=true'].join('&')
        }
}

/** A cursor in the middle of the list, made of one that the list gave out; none when it has only one page. */
async function deepCursor(url: string, query: string): Promise<string | undefined> {
  const { next_cursor } = (await get(`${url}?${query}`)) as { next_cursor: string | null }
  if (next_cursor === null) return undefined
  const [fingerprint] = JSON.parse(Buffer.from(next_cursor, 'base64url').toString()) as string[]
  const sort = new URLSearchParams(query).get('sort') as (typeof ORDERS)[number]
  const { key, id } = LARGE_CATALOG.middle[sort]
  return Buffer.from(JSON.stringify([fingerprint, key, id])).toString('base64url')
}

async function medianOf(url: string): Promise<number> {
  const times: number[] = []
  for (let each = 0; each < TRIES; each += 1) {
    const startedAt = performance.now()
    await get(url)
    times.push(performance.now() - startedAt)
  }
  return times.sort((a, b) => a - b)[Math.floor(TRIES / 2)] ?? 0
}

async function get(url: string): Promise<unknown> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response.json()
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
