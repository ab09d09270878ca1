import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  createCategory,
  createDiscount,
  createProduct,
  lowestPricesOf,
  oneOfEach,
  useCatalog
} from '../../../../test/support/catalog.ts'
import { csvOf, importFile, sized } from '../../../../test/support/csv.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { runSql } from '../../../../test/support/sql.ts'

test('the daily check repairs wrong lowest prices, also in another currency', async () => {
  const app = await useCatalog()
  const variants = [
    { sku: 'A', price: 900 },
    { sku: 'B', price: 500, currency: 'EUR' }
  ]
  await createProduct(app, { variants })
  const { db } = app.platform
  expect(await lowestPricesOf(db).repriceAll()).toBe(0)
  expect(await lowestPricesOf(db, 'EUR').repriceAll()).toBe(1)
  const found = async (query: string) =>
    (await app.request('GET', `/api/products?${query}`)).json.items.length
  expect([await found('max_price=500&sort=price'), await found('min_price=501&sort=price')]).toEqual([1, 0])
  expect(await lowestPricesOf(db).repriceAll()).toBe(1)
})

test('after a discount on very many products starts, lists sort all of them by their new prices', async () => {
  const app = await useCatalog()
  const rows = Array.from({ length: 2_100 }, (_, index) => ({ ...sized(`p${index}`, 'S'), Type: 'All' }))
  await importFile(app, csvOf(rows))
  const all = (await app.request('GET', '/api/categories/all')).json
  await createCategory(app, 'Other')
  const starts_at = new Date(Date.now() + 500).toISOString()
  await createDiscount(app, { scope: 'category', target_id: all.id, percentage_ppm: 500_000, starts_at })
  const count = async () => {
    await app.request('GET', '/api/products?max_price=500')
    const [row] = await app.sql('select count(*)::int from catalog.products where lowest_price_minor <= 500')
    return row?.count
  }
  await eventually(async () => expect(await count()).toBe(2_100))
})

test('a product that is added to a category while its discount is created has the discounted price', async () => {
  const app = await useCatalog()
  const category = await createCategory(app, 'Sale')
  const product = await createProduct(app)
  const { id } = product.variants[0]
  const offer = async () => (await app.catalog.offers(oneOfEach([id]), null))[0]?.discountedPrice

  // Blocks the discount just before its commit, by locking the row of the revision.
  const holder = new pg.Client({ connectionString: app.databaseUrl })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin')
  await holder.query('select from catalog.revision for update')
  const making = createDiscount(app, { scope: 'category', target_id: category.id, percentage_ppm: 500_000 })
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%catalog.revision%'`
  await eventually(async () => expect(await runSql(app.databaseUrl, waiting)).toHaveLength(1))
  const link = 'insert into catalog.product_categories (product_id, category_id) values ($1, $2)'
  await runSql(app.databaseUrl, link, [product.id, category.id])
  expect(await offer()).toBe(1_000)
  await holder.query('commit')

  await making
  expect(await offer()).toBe(500)
  await eventually(async () => {
    const { json } = await app.request('GET', '/api/products?max_price=500')
    expect(json.items).toMatchObject([{ id: product.id, discounted_price: 500 }])
  })
})

test('many concurrent requests apply the start of a discount once', async () => {
  const first = await useCatalog()
  const product = await createProduct(first)
  const starts_at = '2020-01-01T00:00:00Z'
  await createDiscount(first, { scope: 'product', target_id: product.id, percentage_ppm: 500_000, starts_at })
  await runSql(first.databaseUrl, `update catalog.revision set priced_at = '2019-01-01'`)
  const app = await useCatalog({}, first.databaseUrl)
  const transactions = vi.spyOn(app.platform.db, 'transaction')
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, page) => app.request('GET', `/api/products?limit=${1 + (page % 3)}`))
  )
  for (const { json } of answers) expect(json.items).toMatchObject([{ discounted_price: 500 }])
  expect(transactions).toHaveBeenCalledTimes(1)
})
