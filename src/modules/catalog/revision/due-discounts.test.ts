import { expect, test, vi } from 'vitest'
import {
  createCategory,
  createDiscount,
  createProduct,
  lowestPricesOf,
  useCatalog
} from '../../../../test/support/catalog.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { doOnceMore } from '../../../../test/support/jobs.ts'

const lowest = async ({ sql }: Pick<Awaited<ReturnType<typeof useCatalog>>, 'sql'>) =>
  (await sql('select lowest_price_minor, lowest_price_currency from catalog.products order by slug')).map(
    row => [row.lowest_price_minor, row.lowest_price_currency]
  )

/** Number of `catalog.changed` events. */
const eventsOf = async ({ sql }: Pick<Awaited<ReturnType<typeof useCatalog>>, 'sql'>) =>
  (await sql(`select from cartwright.events where name = 'catalog.changed'`)).length

test('checking an unchanged catalog of any size for due discounts costs one statement per minute', async () => {
  const app = await useCatalog()
  await createProduct(app)
  const { db } = app.platform
  const prices = lowestPricesOf(db)
  await prices.applyDueChanges()
  // The first runs in a new shop are completed before.
  for (const job of ['catalog.check_prices', 'catalog.apply_due_prices']) await doOnceMore(app, job)
  const first = vi.spyOn(db, 'first')
  const others = [vi.spyOn(db, 'rows'), vi.spyOn(db, 'transaction')]
  await prices.applyDueChanges()
  expect(first.mock.calls.map(([{ name }]) => name)).toEqual(['catalog.find_revision'])
  for (const spy of others) expect(spy).not.toHaveBeenCalled()
})

test('one of two processes recalculates all stored prices, once a day', async () => {
  const app = await useCatalog()
  await useCatalog({}, app.databaseUrl)
  await createProduct(app, { slug: 'a' })
  await app.sql('update catalog.products set lowest_price_minor = 1')
  await doOnceMore(app, 'catalog.check_prices')
  expect(await lowest(app)).toEqual([[1_000, 'USD']])
  const due = `select extract(epoch from due_at - now()) > 80000 as is_tomorrow from cartwright.jobs where handler = $1`
  expect(await app.sql(due, ['catalog.check_prices'])).toEqual([{ is_tomorrow: true }])
})

test('a discount that starts while no product page is requested is applied, and emits catalog.changed', async () => {
  const app = await useCatalog()
  const product = await createProduct(app)
  const starts_at = '2020-01-01T00:00:00Z'
  await createDiscount(app, { scope: 'product', target_id: product.id, percentage_ppm: 500_000, starts_at })
  await app.sql(`update catalog.products set lowest_price_minor = 1000`)
  await app.sql(`update catalog.revision set priced_at = '2019-01-01'`)
  const before = await eventsOf(app)
  await doOnceMore(app, 'catalog.apply_due_prices')
  expect(await lowest(app)).toEqual([[500, 'USD']])
  expect(await eventsOf(app)).toBe(before + 1)
})

test('all products are repriced after the currency of the shop changed, which emits catalog.changed', async () => {
  const app = await useCatalog({ CARTWRIGHT__SHOP__CURRENCY: 'EUR' })
  const variants = [
    { sku: 'A', price: 900, currency: 'USD' },
    { sku: 'B', price: 500, currency: 'EUR' }
  ]
  await createProduct(app, { variants })
  await doOnceMore(app, 'catalog.apply_due_prices')
  await app.sql(`update catalog.products set lowest_price_minor = 900, lowest_price_currency = 'USD'`)
  await app.sql(`update catalog.revision set currency = 'USD'`)
  const before = await eventsOf(app)
  await doOnceMore(app, 'catalog.apply_due_prices')
  await eventually(async () => {
    expect(await lowest(app)).toEqual([[500, 'EUR']])
    expect(await eventsOf(app)).toBeGreaterThan(before)
  })
})

test('a change of a category reprices only its products, and again after older transactions have ended', async () => {
  const app = await useCatalog()
  const [category, other] = [await createCategory(app, 'Sale'), await createCategory(app, 'Other')]
  await createProduct(app, { slug: 'in', category_ids: [category.id] })
  await createProduct(app, { slug: 'out', category_ids: [other.id] })
  const { id: target_id } = category
  const rows = vi.spyOn(app.platform.db, 'rows')
  const seen = () =>
    rows.mock.calls
      .filter(([{ name }]) => name === 'catalog.list_mispriced_products')
      .map(([, given]) => (given as unknown as { ids: string[] }).ids.length)
  await createDiscount(app, { scope: 'category', target_id, percentage_ppm: 500_000 })
  const waiting = `select due_at > now() + interval '30 seconds' as is_later from cartwright.jobs where handler = $1`
  const job = 'catalog.reprice_products'
  await eventually(async () => {
    expect(await app.sql(waiting, [job])).toEqual([{ is_later: true }])
    expect(seen()).toEqual([1])
  })

  // A transaction that did not see the discount added this product after the first job ran.
  await app.sql(
    'insert into catalog.product_categories (product_id, category_id) select id, $1 from catalog.products where slug = $2',
    [target_id, 'out']
  )
  expect(await lowest(app)).toEqual([
    [500, 'USD'],
    [1_000, 'USD']
  ])
  await app.sql('update cartwright.jobs set due_at = now() where handler = $1', [job])
  await eventually(async () =>
    expect(await lowest(app)).toEqual([
      [500, 'USD'],
      [500, 'USD']
    ])
  )
})
