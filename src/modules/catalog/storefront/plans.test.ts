import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { literal } from '../../../../test/support/buffers.ts'
import { createTestDatabase, testDatabaseOptions } from '../../../../test/support/database.ts'
import { fillLargeCatalog, LARGE_CATALOG } from '../../../../test/support/large-catalog.ts'
import { COUNTED_MAX } from '../../../kernel/pages.ts'
import { connectionSettings, plannedForValues } from '../../../platform/postgres/connect.ts'
import { type Database, openDatabase } from '../../../platform/postgres/database.ts'
import { type Statement, statement, valuesOf } from '../../../platform/postgres/statement.ts'
import { patternsOf } from '../products/search.ts'
import { beforeFirst, listPrices, ownPrices } from './repository.ts'
import type { Sort } from './schema.ts'

const { words, tags, categories, prices, priceLists, middle } = LARGE_CATALOG
const orders = Object.keys(beforeFirst) as Sort[]
const limit = 21
/** Of a step that is repeated, PostgreSQL tells averages: what a look-up by key finds or refuses may come to 1.5 rows of 1. */
const ROWS_MAX = 1.5 * LARGE_CATALOG.products

let created: Awaited<ReturnType<typeof createTestDatabase>>
let db: Database
let client: pg.Client
beforeAll(async () => {
  created = await createTestDatabase()
  const options = testDatabaseOptions(created.url)
  db = openDatabase(options)
  // One session with the settings of slow statements, which takes its time on a busy machine.
  client = new pg.Client(
    connectionSettings({ ...options, statementTimeoutMs: 60_000, lockTimeoutMs: 60_000 }, plannedForValues)
  )
  await client.connect()
  await fillLargeCatalog(client)
})
afterAll(async () => {
  await client.end()
  await db.close()
  await created.drop()
})

type Node = {
  'Node Type': string
  'Actual Loops': number
  'Actual Rows': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Node[]
}

/** The most rows that one step of a plan went through, all its repetitions together. */
function mostRows(node: Node): number {
  const removed =
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  return Math.max(node['Actual Loops'] * (node['Actual Rows'] + removed), ...(node.Plans ?? []).map(mostRows))
}

let explained = 0
/** The plan of a slow statement as the program prepares it, by running it. */
async function planOf(given: Statement, values: Record<string, unknown>): Promise<Node> {
  const { name, text } = given
  // Prepared when the session sees it for the first time.
  if (!prepared.has(given)) await client.query({ name, text, values: valuesOf(given, values) })
  prepared.add(given)
  const literals = valuesOf(given, values).map(literal)
  explained += 1
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (analyze, timing off, format json) execute "${name}" (${literals.join()})`
  )
  const [plan] = rows.flatMap(row => row['QUERY PLAN'])
  if (plan === undefined) throw new Error(`${name} has no plan`)
  return plan.Plan
}
const prepared = new Set<Statement>()

const filtersOf = function* () {
  for (const word of words)
    for (const tag of tags)
      for (const category of categories)
        for (const [price_min, price_max] of prices)
          for (const in_stock of word === null && tag === null ? [null, true, false] : [null])
            yield { q: word && patternsOf(word), tag, category, price_min, price_max, in_stock }
}

test.each([
  { of: "the catalog's own prices", lists: ownPrices, more: {} },
  ...priceLists.map(list => ({ of: `the price list ${list}`, lists: listPrices, more: { list } }))
])(
  'no plan of a list with $of goes through the catalog more than once, whatever is asked for',
  async ({ lists, more }) => {
    const faults: unknown[] = []
    const explainedBefore = explained
    const check = async (given: Statement, values: Record<string, unknown>) => {
      const rows = mostRows(await planOf(given, { ...values, ...more }))
      if (rows > ROWS_MAX) faults.push([given.name, rows, values])
    }
    for (const filters of filtersOf()) {
      await check(lists.count, filters)
      for (const sort of orders)
        for (const from of [beforeFirst[sort], middle[sort]])
          await check(lists[sort], { ...from, limit, ...filters })
    }
    expect(faults).toEqual([])
    const questions = (words.length * tags.length + 2) * categories.length * prices.length
    expect(explained - explainedBefore).toBe(questions * 9)
  },
  120_000
)

test('slow statements are planned for their values in the program too', async () => {
  const mode = statement({
    name: 'test.plan_cache_mode',
    slow: true,
    gives: { plan_cache_mode: 'text' },
    text: "select current_setting('plan_cache_mode') as plan_cache_mode"
  })
  expect(await db.first(mode)).toEqual(plannedForValues)
})

test('a list is planned for what it is asked for: what few products have is found by its index', async () => {
  const all = { q: null, tag: null, category: null, price_min: null, price_max: null, in_stock: null }
  for (const filter of [
    { q: patternsOf('zebra') },
    { q: patternsOf('product-777') },
    { q: patternsOf('qq') },
    { tag: 'rare' },
    { category: categories[3] }
  ]) {
    const plan = await planOf(ownPrices.name, { ...beforeFirst.name, limit, ...all, ...filter })
    expect(mostRows(plan)).toBeLessThan(1_000)
  }
  const plan = await planOf(ownPrices.newest, { ...beforeFirst.newest, limit, ...all, in_stock: false })
  expect(mostRows(plan)).toBeLessThan(1_000)
})

test('what the filters find is what variants and categories say', async () => {
  for (const { q, tag, category, price_min, price_max, in_stock } of filtersOf()) {
    if (price_min !== null || (q !== null && category === null)) continue
    const { rows } = await client.query(
      `select least(count(*), ${COUNTED_MAX + 1})::int as total from catalog.products
       where status = 'active' and ($2::text is null or $2 = any (tags))
         and ($1::text[] is null or search_text like any ($1)
           or id in (select product_id from catalog.variants where lower(sku) like any ($1)))
         and ($3::uuid is null or id in (
           select product_id from catalog.product_categories join catalog.categories c on c.id = category_id
           where $3 = any (c.path)))
         and ($4::bool is null or $4 = exists (
           select from catalog.variants v where v.product_id = products.id and v.active and v.in_stock))`,
      [q, tag, category, in_stock]
    )
    expect([await db.first(ownPrices.count, { q, tag, category, price_min, price_max, in_stock })]).toEqual(
      rows
    )
  }
})
