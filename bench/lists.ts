/**
 * What lists and searches of products cost: every combination of filter and order over HTTP, uncached, on 20,000
 * products, beside an uncached product page. `npm run bench:lists`, a minute or two; `-- market` the same in a market with a
 * price list. One request at a time.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { standardModules } from '../src/app.ts'
import { migrationSources } from '../src/module.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { fillLargeCatalog, LARGE_CATALOG } from '../test/support/large-catalog.ts'
import { openBench, startShop } from './shop.ts'

const TRIES = 9
const MS_MAX = 25
const RATIO_MAX = 20
const ORDERS = ['newest', 'name', 'price', '-price'] as const

const isInMarket = process.argv.includes('market')
const bench = await openBench()
try {
  await migrate(bench.databaseUrl, migrationSources(standardModules))
  await fillLargeCatalog(bench.client)
  if (isInMarket) await openMarket()
  const shop = await startShop(bench.databaseUrl, { CARTWRIGHT__CATALOG__PAGE_CACHE_SECONDS: '0' })
  try {
    if (isInMarket) await untilPriced()
    await measureAll(`${shop.url}/api/products`)
  } finally {
    await shop.stop()
  }
} finally {
  await bench.close()
}

/** A market in pounds whose list has a price, and one for ten, of each variant. */
async function openMarket(): Promise<void> {
  await bench.client.query(`
    with list as (
      insert into pricing.price_lists (id, name, currency, adjustment_ppm, depth)
      values (gen_random_uuid(), 'Pounds', 'GBP', 0, 1) returning id, currency
    ), market as (
      insert into pricing.markets (
        id, code, name, currency, prices_include_tax, tax_rounding, cash_rounding, locale, active, price_list_id)
      select gen_random_uuid(), 'uk', 'Britain', currency, true, 'group', 1, 'en', true, id from list
    )
    insert into pricing.prices (list_id, variant_id, from_quantity, price_minor)
    select list.id, variants.id, quantity, variants.price_minor - quantity
    from list cross join catalog.variants cross join (values (1), (10)) breaks (quantity)`)
  await bench.client.query('analyze')
}

/** The shop finds the market when it starts, and brings the lowest prices of its list up to date. */
async function untilPriced(): Promise<void> {
  const startedAt = performance.now()
  const asked = `
    select (select count(*) from catalog.products where lowest_price_minor is not null)::int as wanted,
      (select count(*) from catalog.list_prices where lowest_price_currency = 'GBP'
        and list_id in (select price_list_id from pricing.markets))::int as found`
  for (;;) {
    const { rows } = await bench.client.query<{ wanted: number; found: number }>(asked)
    if (rows[0]?.found === rows[0]?.wanted) break
    await delay(20)
  }
  print(
    `After ${((performance.now() - startedAt) / 1_000).toFixed(1)} s all products had a price in the market.\n`
  )
  await bench.client.query('vacuum analyze catalog.list_prices')
}

async function measureAll(url: string): Promise<void> {
  for (let each = 0; each < 300; each += 1) await get(`${url}?q=thing&tag=t1&sort=name`)
  const page = await medianOf(`${url}/product-777${isInMarket ? '?market=uk' : ''}`)
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
  const market = isInMarket ? 'uk' : null
  for (const q of LARGE_CATALOG.words)
    for (const tag of LARGE_CATALOG.tags)
      for (const category of LARGE_CATALOG.categories)
        for (const [min_price, max_price] of LARGE_CATALOG.prices) {
          const given = { market, q: q?.replaceAll('%', ''), tag, category, min_price, max_price }
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
