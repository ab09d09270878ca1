import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { type CatalogApp, createProduct, oneOfEach, useCatalog } from '../../../../test/support/catalog.ts'
import { csvOf, importFile, sized } from '../../../../test/support/csv.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { insertProducts } from '../products/repository.ts'
import { findCatalogRevision } from '../revision/repository.ts'

shareShops()

const admin = { token: 'admin' }
const product = async (app: CatalogApp, slug: string) => {
  const { items } = (await app.request('GET', `/api/catalog/products?q=the%20${slug}`, admin)).json
  return (await app.request('GET', `/api/catalog/products/${items[0].id}`, admin)).json
}

test('imported variants keep their ids when prices, SKUs and order change; missing ones are deactivated', async () => {
  const app = await useCatalog()
  await importFile(app, csvOf([sized('mug', 'S', 'A'), sized('mug', 'M'), sized('mug', 'L', 'C')]))
  const before = await product(app, 'mug')
  const [s, m, l] = before.variants
  expect(m.sku).toBe('MUG.M')

  const second = csvOf([sized('mug', 'L', 'C', 12), sized('mug', 'M', 'B'), sized('mug', 'XL')])
  const { json } = await importFile(app, second)
  expect(json.products).toEqual({ created: 0, updated: 1, unchanged: 0, failed: 0 })
  expect(json.variants).toEqual({ created: 1, updated: 2, unchanged: 0, deactivated: 1 })
  const after = await product(app, 'mug')
  expect(after.version).toBe(before.version + 1)
  const byId = new Map(after.variants.map((variant: { id: string }) => [variant.id, variant]))
  expect(byId.get(s.id)).toMatchObject({ active: false, sku: 'A' })
  expect(byId.get(m.id)).toMatchObject({ active: true, sku: 'B', price: 1_000 })
  expect(byId.get(l.id)).toMatchObject({ active: true, price: 1_200, position: 1 })
  expect((await app.catalog.offers(oneOfEach([s.id, l.id]), null)).map(offer => offer?.price)).toEqual([
    undefined,
    1_200
  ])

  const again = await importFile(app, second)
  expect(again.json.variants).toEqual({ created: 0, updated: 0, unchanged: 3, deactivated: 0 })
  expect((await product(app, 'mug')).version).toBe(after.version)
  const renamed = await importFile(app, csvOf([sized('mug', 'Large', 'C', 12)]))
  expect(renamed.json.variants).toEqual({ created: 0, updated: 1, unchanged: 0, deactivated: 2 })
  await importFile(app, csvOf([sized('mug', 'S', 'A')]))
  expect((await product(app, 'mug')).variants.find((each: { id: string }) => each.id === s.id).active).toBe(
    true
  )
})

test('imported variants that swap their options are matched by SKU', async () => {
  const app = await useCatalog()
  await importFile(app, csvOf([sized('cup', 'S', 'P'), sized('cup', 'M', 'Q')]))
  const [p, q] = (await product(app, 'cup')).variants
  const { json } = await importFile(app, csvOf([sized('cup', 'S', 'Q'), sized('cup', 'M', 'P')]))
  expect(json).toMatchObject({ variants: { updated: 2, created: 0, deactivated: 0 }, errors_total: 0 })
  expect((await product(app, 'cup')).variants).toMatchObject([
    { id: q.id, sku: 'Q', attributes: { Size: 'S' } },
    { id: p.id, sku: 'P', attributes: { Size: 'M' } }
  ])
})

test('a product import sets requires_shipping, and keeps fields that the file does not have', async () => {
  const app = await useCatalog()
  const file = (shipped: string) => csvOf([{ ...sized('bowl', 'S'), 'Variant Requires Shipping': shipped }])
  const { json } = await importFile(app, file('false'))
  expect(json.ignored_columns).not.toContain('Variant Requires Shipping')
  const [{ id, requires_shipping }] = (await product(app, 'bowl')).variants
  expect(requires_shipping).toBe(false)
  const rules = { quantity_min: 2, quantity_step: 2, tax_category: 'food' }
  await app.request('PATCH', `/api/catalog/variants/${id}`, { ...admin, body: rules })
  expect((await importFile(app, file(''))).json.products.unchanged).toBe(1)
  await importFile(app, file('TRUE'))
  expect((await product(app, 'bowl')).variants[0]).toMatchObject({ ...rules, requires_shipping: true })
})

test('a product import that changes nothing writes no row and emits no event', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const file = csvOf([sized('mug', 'S'), sized('jug', 'S')])
  await importFile(app, file)
  const revision = async () => (await app.platform.db.first(findCatalogRevision))?.value
  const before = await revision()
  for (const mode of ['best_effort', 'all_or_nothing'])
    expect((await importFile(app, file, mode)).json.products.unchanged).toBe(2)
  expect(await revision()).toEqual(before)
})

test('carts show imported prices within a second, in every process', async () => {
  needsOwnShop()
  const one = await useCatalog()
  const other = await useCatalog({}, one.databaseUrl)
  await importFile(one, csvOf([sized('mug', 'S')]))
  const [variant] = (await product(one, 'mug')).variants
  const price = async () => (await other.catalog.offers(oneOfEach([variant.id]), null))[0]?.price
  expect(await price()).toBe(1_000)
  await importFile(one, csvOf([sized('mug', 'S', '', 7)]))
  await eventually(async () => expect(await price()).toBe(700))
})

test('an imported product type sets the category, and categories that an administrator chose stay', async () => {
  const app = await useCatalog()
  const ofType = (Type: string) => csvOf([{ ...sized('plate', 'S'), Type }])
  await importFile(app, ofType('Küche'))
  const { id } = await product(app, 'plate')
  const chosen = (await app.request('POST', '/api/catalog/categories', { ...admin, body: { name: 'Gifts' } }))
    .json
  const kitchen = (await app.request('GET', '/api/categories/kuche')).json
  const categories = async () =>
    (await product(app, 'plate')).categories.map((category: { slug: string }) => category.slug)
  const body = { category_ids: [kitchen.id, chosen.id] }
  expect(await categories()).toEqual(['kuche'])

  await importFile(app, ofType('Bath'))
  expect(await categories()).toEqual(['bath'])
  await app.request('PATCH', `/api/catalog/products/${id}`, { ...admin, body })
  expect((await importFile(app, ofType('Bath'))).json.products.unchanged).toBe(0)
  expect((await importFile(app, ofType('Bath'))).json.products.unchanged).toBe(1)
  expect(await categories()).toEqual(['bath', 'gifts', 'kuche'])
  await importFile(app, ofType(''))
  expect(await categories()).toEqual(['gifts', 'kuche'])
})

test('an imported product with the SKU of another one fails alone, and of two new products the first gets it', async () => {
  needsOwnShop()
  const app = await useCatalog()
  await createProduct(app, { slug: 'owner', variants: [{ sku: 'TAKEN', price: 1 }] })
  const file = csvOf([
    sized('a', 'S', 'NEW'),
    sized('b', 'S', 'NEW'),
    sized('c', 'S', 'TAKEN'),
    sized('d', 'S', 'D')
  ])
  const { json } = await importFile(app, file)
  expect(json.products).toEqual({ created: 2, updated: 0, unchanged: 0, failed: 2 })
  expect(json.errors).toMatchObject([
    { row: 3, handle: 'b', message: 'The SKU NEW belongs to the product a. Choose another SKU.' },
    { row: 4, handle: 'c', message: 'The SKU TAKEN belongs to the product owner. Choose another SKU.' }
  ])
  const second = csvOf([sized('x', 'S', 'X'), sized('y', 'S', 'X')])
  const all = (await importFile(app, second, 'all_or_nothing')).json
  expect(all.report.errors).toMatchObject([
    { row: 3, message: 'The SKU X belongs to the product x. Choose another SKU.' }
  ])
})

test('a database error during an import fails only the product that causes it, and no other of its batch', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const rows = Array.from({ length: 40 }, (_, index) => sized(`p${index}`, 'S'))
  await runSql(
    app.databaseUrl,
    `create function catalog.refuse() returns trigger language plpgsql as
       $$ begin if new.slug = 'p13' then perform 1 / 0; end if; return new; end $$;
     create trigger refuse before insert on catalog.products for each row execute function catalog.refuse()`
  )
  const { json } = await importFile(app, csvOf(rows))
  expect(json.products).toEqual({ created: 39, updated: 0, unchanged: 0, failed: 1 })
  expect(json.errors).toMatchObject([
    { row: 15, handle: 'p13', message: expect.stringContaining('division') }
  ])

  const all = await importFile(app, csvOf([...rows, sized('q', 'S')]), 'all_or_nothing')
  expect(all.status).toBe(400)
  expect(all.json.report.errors[0].message).toContain('division')
  expect((await app.request('GET', '/api/products/q')).status).toBe(404)
})

for (const mode of ['best_effort', 'all_or_nothing']) {
  test(`a handle that another request takes while the import runs is rejected with the reason, ${mode}`, async () => {
    needsOwnShop()
    const app = await useCatalog()
    const { db } = app.platform
    const { transaction } = db
    db.transaction = work =>
      transaction(tx =>
        work({
          ...tx,
          run: async (statement, ...given) => {
            if (statement.name === insertProducts.name) await createProduct(await other, { slug: 'mug' })
            return tx.run(statement, ...given)
          }
        })
      )
    const other = useCatalog({}, app.databaseUrl)
    const { json } = await importFile(app, csvOf([sized('mug', 'S')]), mode)
    const { products, errors } = json.report ?? json
    expect(products.created).toBe(0)
    expect(errors).toMatchObject([{ row: 2, message: expect.stringContaining('took its handle or SKU') }])
  })
}

test('5,000 rows are imported in batches, also in one transaction, and product lists are right afterwards', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const rows = Array.from({ length: 5_000 }, (_, index) =>
    sized(`p${Math.floor(index / 5)}`, `S${index % 5}`, '', (index % 900) + 1)
  )
  const seen: number[] = []
  const report = await app.catalog.importCsv(
    Readable.from([csvOf(rows)]),
    {},
    ({ rows: done, rowsTotal }) => {
      expect(rowsTotal).toBe(done === 0 ? null : 5_000)
      seen.push(done)
    }
  )
  expect(report).toMatchObject({ rows: 5_000, products: { created: 1_000 }, variants: { created: 5_000 } })
  expect(seen.length).toBeGreaterThanOrEqual(5)
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  expect((await app.request('GET', '/api/products?count=true&sort=price')).json).toMatchObject({
    total: 1_000,
    items: expect.arrayContaining([expect.objectContaining({ discounted_price: 100 })])
  })
  const dearer = rows.map(row => ({ ...row, 'Variant Price': Number(row['Variant Price']) + 1_000 }))
  const all = await app.catalog.importCsv(Readable.from([csvOf(dearer)]), { mode: 'all_or_nothing' })
  expect(all).toMatchObject({ products: { updated: 1_000 }, variants: { updated: 5_000 } })
  expect((await app.request('GET', '/api/products?sort=price&limit=1')).json.items[0].price).toBe(100_100)
})

test('rows of one product that are separated in the import file are rejected, and its variants stay', async () => {
  const app = await useCatalog()
  const { json } = await importFile(app, csvOf([sized('a', 'S'), sized('b', 'S'), sized('a', 'M')]))
  expect(json.products).toMatchObject({ created: 2, failed: 1 })
  expect(json.errors).toMatchObject([{ row: 4, handle: 'a' }])
})

test('an invalid import file is rejected with a reason, and the catalog does not change', async () => {
  needsOwnShop()
  const app = await useCatalog()
  await createProduct(app)
  const header = csvOf([])
  const rubbish = {
    nothing: '',
    'a header in Latin': csvOf([]).replaceAll(',', ';'),
    'random bytes': Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7_919) % 256)),
    'an image': Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    JSON: '{"products":[]}',
    'a quote that is never closed': `${header}\nmug,"Mug,,Size,S,,10\njug,Jug,,Size,S,,10\n`
  }
  for (const [what, body] of Object.entries(rubbish)) {
    const { status, json } = await importFile(app, body)
    expect([what, status, json.code]).toEqual([what, 400, 'CATALOG_IMPORT_FAILED'])
    expect(json.report.errors[0].message).not.toBe('')
  }
  expect((await importFile(app, header)).json).toMatchObject({ rows: 0, products: { created: 0, failed: 0 } })
  const cell = `${header}\nmug,"${'x'.repeat(1_000_000)}",,Size,S,,10\njug,Jug,,Size,S,,10\n`
  expect((await importFile(app, cell)).json.products).toEqual({
    created: 1,
    updated: 0,
    unchanged: 0,
    failed: 1
  })
  expect((await app.request('GET', '/api/products?count=true')).json.total).toBe(2)
})

test('the product import accepts only CSV, and no other route accepts CSV', async () => {
  const app = await useCatalog()
  for (const type of ['application/json', 'multipart/form-data', 'text/plain', 'text/csvx', '']) {
    const headers = { 'content-type': type }
    const { status } = await app.request('POST', '/api/catalog/import', { ...admin, headers, body: '{}' })
    expect([type, status]).toEqual([type, 415])
  }
  const headers = { 'content-type': 'text/csv; charset=utf-8' }
  const body = csvOf([sized('jar', 'S')])
  expect((await app.request('POST', '/api/catalog/import', { ...admin, headers, body })).status).toBe(200)
  expect((await app.request('POST', '/api/catalog/products', { ...admin, headers, body })).status).toBe(415)
  expect(
    (await app.request('POST', '/api/catalog/import?mode=some', { ...admin, headers, body })).status
  ).toBe(400)
})

test('after a large import, product searches are planned for the new table sizes', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const rows = Array.from({ length: 1_100 }, (_, index) => sized(`p${index}`, 'S'))
  await importFile(app, csvOf(rows))
  const known = `select reltuples::int as rows from pg_class where oid = 'catalog.products'::regclass`
  expect(await runSql(app.databaseUrl, known)).toEqual([{ rows: 1_100 }])
})

test('a stopping process returns the report of the product import, and sending the file again continues it', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const rows = Array.from({ length: 450 }, (_, index) => [
    sized(`mug-${index}`, 'S'),
    sized(`mug-${index}`, 'M')
  ])
  const file = csvOf(rows.flat())
  const { result } = await app.record(
    () => importFile(app, file),
    name => {
      if (name === insertProducts.name) app.drain()
    }
  )
  const { status, json } = result
  expect([status, json.code, json.first_row_left]).toEqual([503, 'CATALOG_IMPORT_INTERRUPTED', 252])
  expect(json.report).toMatchObject({ rows: 250, products: { created: 125 }, errors: [] })

  const all = await importFile(app, file, 'all_or_nothing')
  expect([all.status, all.json.first_row_left, all.json.report.products.created]).toEqual([503, 2, 0])

  const restarted = await useCatalog({}, app.databaseUrl)
  const again = await importFile(restarted, file)
  expect(again.json.products).toEqual({ created: 325, updated: 0, unchanged: 125, failed: 0 })
})
