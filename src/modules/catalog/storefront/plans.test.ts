import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { literal } from '../../../../test/support/buffers.ts'
import { createTestDatabase, testDatabaseOptions } from '../../../../test/support/database.ts'
import { fillLargeCatalog, LARGE_CATALOG } from '../../../../test/support/large-catalog.ts'
import { HIGHEST_ID } from '../../../kernel/ids.ts'
import { LIST_TOTAL_MAX } from '../../../kernel/pages.ts'
import {
  createPgClient,
  forceCustomPlanSettings,
  pgClientConfig
} from '../../../platform/postgres/connect.ts'
import { type Database, openDatabase } from '../../../platform/postgres/database.ts'
import { orderedParameterValues, type Statement, statement } from '../../../platform/postgres/statement.ts'
import { productMatchesTextSql } from '../products/list-sql.ts'
import { searchProducts } from '../products/repository.ts'
import { productSearchLikePatterns } from '../products/search.ts'
import {
  positionsBeforeFirstProduct,
  productQueriesAtCatalogPrices,
  productQueriesAtListPrices
} from './repository.ts'
import type { ProductSort } from './schema.ts'

// Lane long: every combination of filters takes 40 seconds. test/budgets.test.ts holds what each list reads.

const { words, tags, categories, prices, priceLists, middle } = LARGE_CATALOG
const orders = Object.keys(positionsBeforeFirstProduct) as ProductSort[]
const limit = 21
/**
 * PostgreSQL reports rounded averages for the loops of a step, so that a look-up by key can show 1.5 rows per
 * row.
 */
const ROWS_MAX = 1.5 * LARGE_CATALOG.products
/** A search scans 50 products per row of its page, and then reads the matches by index. */
const WALKED_ROWS_MAX = 1_200

let created: Awaited<ReturnType<typeof createTestDatabase>>
let db: Database
let client: pg.Client
beforeAll(async () => {
  created = await createTestDatabase()
  const options = testDatabaseOptions(created.url)
  db = openDatabase(options)
  // One session with the settings of slow statements. It can take long on a busy machine.
  client = createPgClient(
    pgClientConfig({ ...options, statementTimeoutMs: 60_000, lockTimeoutMs: 60_000 }, forceCustomPlanSettings)
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

/** The maximum number of rows that a step of a plan read, over all its loops. */
function mostRows(node: Node): number {
  const removed =
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  return Math.max(node['Actual Loops'] * (node['Actual Rows'] + removed), ...(node.Plans ?? []).map(mostRows))
}

let explained = 0
/** Runs a slow statement as the program prepares it, and returns its plan. */
async function planOf(given: Statement, values: Record<string, unknown>): Promise<Node> {
  const { name, text } = given
  // Prepares the statement at its first use in the session.
  if (!prepared.has(given)) await client.query({ name, text, values: orderedParameterValues(given, values) })
  prepared.add(given)
  const literals = orderedParameterValues(given, values).map(literal)
  explained += 1
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (analyze, timing off, format json) execute "${name}" (${literals.join()})`
  )
  const [plan] = rows.flatMap(row => row['QUERY PLAN'])
  if (plan === undefined) throw new Error(`${name} has no plan`)
  return plan.Plan
}
const prepared = new Set<Statement>()

/** The statements that list products with these filters. */
const listsFor = (
  { list, search }: typeof productQueriesAtCatalogPrices | typeof productQueriesAtListPrices,
  { q }: { q: string[] | null }
) => (q === null ? list : search)

const filtersOf = function* () {
  for (const word of words)
    for (const tag of tags)
      for (const category of categories)
        for (const [price_min, price_max] of prices)
          for (const in_stock of word === null && tag === null ? [null, true, false] : [null])
            yield {
              q: word && productSearchLikePatterns(word),
              tag,
              category,
              price_min,
              price_max,
              in_stock
            }
}

test.each([
  { of: "the catalog's own prices", lists: productQueriesAtCatalogPrices, more: {} },
  ...priceLists.map(list => ({
    of: `the price list ${list}`,
    lists: productQueriesAtListPrices,
    more: { list }
  }))
])(
  'no plan of a product list with $of reads the catalog more than once, with any filters',
  async ({ lists, more }) => {
    const faults: unknown[] = []
    const explainedBefore = explained
    let combinations = 0
    const check = async (given: Statement, values: Record<string, unknown>) => {
      const rows = mostRows(await planOf(given, { ...values, ...more }))
      if (rows > ROWS_MAX) faults.push([given.name, rows, values])
    }
    for (const filters of filtersOf()) {
      await check(lists.count, filters)
      // A price list changes only the source of prices. So each combination is tested with one order there,
      // and each word and tag with another one.
      const turn = combinations + Math.floor(combinations / (categories.length * prices.length))
      const sorts =
        lists === productQueriesAtCatalogPrices ? orders : orders.filter((_, i) => i === turn % orders.length)
      combinations += 1
      for (const sort of sorts)
        for (const from of [positionsBeforeFirstProduct[sort], middle[sort]])
          await check(listsFor(lists, filters)[sort], { ...from, limit, ...filters })
    }
    expect(faults).toEqual([])
    const questions = (words.length * tags.length + 2) * categories.length * prices.length
    expect(explained - explainedBefore).toBe(questions * (lists === productQueriesAtCatalogPrices ? 9 : 3))
  },
  120_000
)

test('the program has slow statements planned for their parameter values', async () => {
  const mode = statement({
    name: 'test.plan_cache_mode',
    slow: true,
    gives: { plan_cache_mode: 'text' },
    text: "select current_setting('plan_cache_mode') as plan_cache_mode"
  })
  expect(await db.first(mode)).toEqual(forceCustomPlanSettings)
})

test('the plan of a product list uses the index of a filter value that is rare', async () => {
  const all = { q: null, ...noFilter }
  for (const filter of [
    { q: productSearchLikePatterns('zebra') },
    { q: productSearchLikePatterns('product-777') },
    { q: productSearchLikePatterns('qq') },
    { tag: 'rare' },
    { category: categories[3] }
  ]) {
    const filters = { ...all, ...filter }
    const plan = await planOf(listsFor(productQueriesAtCatalogPrices, filters).name, {
      ...positionsBeforeFirstProduct.name,
      limit,
      ...filters
    })
    expect(mostRows(plan)).toBeLessThan(WALKED_ROWS_MAX)
  }
  const plan = await planOf(productQueriesAtCatalogPrices.list.newest, {
    ...positionsBeforeFirstProduct.newest,
    limit,
    ...all,
    in_stock: false
  })
  expect(mostRows(plan)).toBeLessThan(1_000)
})

const noFilter = { tag: null, category: null, price_min: null, price_max: null, in_stock: null }

test.each(['known', 'not known'])(
  'searching for rare or adjacent products does not scan the catalog, where the frequency of words is %s',
  async frequency => {
    await client.query('begin')
    if (frequency === 'not known')
      await client.query(`
        delete from pg_statistic using pg_attribute
        where starelid = 'catalog.products'::regclass and attrelid = starelid and attnum = staattnum
          and attname = 'sku_text'`)
    const rows: Record<string, number> = {}
    for (const word of ['product-77', 'product-7', 'zeb', 'zebra', 'nowhere', 'qq']) {
      const q = productSearchLikePatterns(word)
      for (const sort of orders) {
        const values = { ...positionsBeforeFirstProduct[sort], limit, ...noFilter, q }
        rows[`${word} by ${sort}`] = mostRows(
          await planOf(productQueriesAtCatalogPrices.search[sort], values)
        )
      }
      const all = { after: HIGHEST_ID, statuses: ['draft', 'active', 'archived'], limit, q, metadata: null }
      rows[`${word} of all`] = mostRows(await planOf(searchProducts, all))
    }
    await client.query('rollback')
    expect(Math.max(...Object.values(rows)), JSON.stringify(rows)).toBeLessThan(WALKED_ROWS_MAX)
  }
)

test.each([
  { of: "the catalog's own prices", lists: productQueriesAtCatalogPrices, more: {} },
  { of: 'a price list', lists: productQueriesAtListPrices, more: { list: priceLists[0] } }
])(
  'a page of a product search with $of has the first matching products of the list',
  async ({ lists, more }) => {
    const idsOf = async (
      { text, ...rest }: Statement,
      values: Record<string, unknown>
    ): Promise<string[]> => {
      const given = orderedParameterValues({ ...rest }, { ...noFilter, ...more, ...values })
      const { rows } = await client.query(`select id from (${text}) as listed`, given)
      return rows.map(({ id }) => id)
    }
    for (const word of ['thing', 'zebra', 'product-77', '1', 'nowhere']) {
      const q = productSearchLikePatterns(word)
      const { rows } = await client.query(
        `select id from catalog.products where ${productMatchesTextSql('$1')}`,
        [q]
      )
      const found = new Set(rows.map(({ id }) => id))
      for (const sort of orders)
        for (const from of [positionsBeforeFirstProduct[sort], middle[sort]]) {
          const listed = await idsOf(lists.list[sort], { ...from, limit: LARGE_CATALOG.products })
          const page = await idsOf(lists.search[sort], { ...from, limit, q })
          expect(page, `${word} by ${sort}`).toEqual(listed.filter(id => found.has(id)).slice(0, limit))
        }
    }
  }
)

test('product list filters find the same products as a check of each variant and category', async () => {
  for (const { q, tag, category, price_min, price_max, in_stock } of filtersOf()) {
    if (price_min !== null || (q !== null && category === null)) continue
    const { rows } = await client.query(
      `select least(count(*), ${LIST_TOTAL_MAX + 1})::int as total from catalog.products
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
    expect([
      await db.first(productQueriesAtCatalogPrices.count, {
        q,
        tag,
        category,
        price_min,
        price_max,
        in_stock
      })
    ]).toEqual(rows)
  }
})
