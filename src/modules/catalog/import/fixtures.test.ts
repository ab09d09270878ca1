import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { useCatalog } from '../../../../test/support/catalog.ts'
import { importFile } from '../../../../test/support/csv.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}.csv`, import.meta.url))

const good = {
  'variants-and-images': { products: 3, variants: 11, images: 10, onSale: 4 },
  'bom-and-quotes': { products: 4, variants: 5, images: 2, onSale: 0 },
  'newer-header': { products: 4, variants: 5, images: 4, onSale: 1 },
  '../../../../../demo/catalog': { products: 41, variants: 114 }
}

for (const [name, expected] of Object.entries(good)) {
  test(`the product file ${name} is imported completely, and importing it again changes nothing`, async () => {
    const app = await useCatalog()
    const since = newId()
    const { status, json } = await importFile(app, fixture(name))
    expect(status).toBe(200)
    expect(json).toMatchObject({
      products: { created: expected.products, updated: 0, unchanged: 0, failed: 0 },
      variants: { created: expected.variants, updated: 0, unchanged: 0, deactivated: 0 },
      mode: 'best_effort',
      errors: [],
      errors_total: 0,
      ignored_columns: expect.arrayContaining(['Variant Tax Code', 'Cost per item'])
    })
    const before = await everything(app, since)
    if ('images' in expected) {
      expect(before.flatMap(product => product.images)).toHaveLength(expected.images)
      const onSale = before
        .flatMap(product => product.variants)
        .filter(variant => variant.sale_price !== null)
      expect(onSale).toHaveLength(expected.onSale)
    }
    const again = await importFile(app, fixture(name), 'all_or_nothing')
    expect(again.json).toMatchObject({
      products: { created: 0, updated: 0, unchanged: expected.products, failed: 0 },
      variants: { created: 0, updated: 0, unchanged: expected.variants, deactivated: 0 }
    })
    expect(await everything(app, since)).toEqual(before)
  })
}

type Product = { status: string; slug: string; images: unknown[]; variants: { sale_price: number | null }[] }
/** All products that were created after this id. Ids are in the order of time. */
async function everything(app: Awaited<ReturnType<typeof useCatalog>>, since: string): Promise<Product[]> {
  const { items, next_cursor } = (
    await app.request('GET', '/api/catalog/products?limit=100', { token: 'admin' })
  ).json
  expect(next_cursor).toBeNull()
  const read = async ({ id }: { id: string }) =>
    (await app.request('GET', `/api/catalog/products/${id}`, { token: 'admin' })).json
  return Promise.all(items.filter(({ id }: { id: string }) => id > since).map(read))
}

test('an import reports each invalid product with its row, and imports the others', async () => {
  const app = await useCatalog()
  const since = newId()
  const { status, json } = await importFile(app, fixture('faulty-rows'))
  expect(status).toBe(200)
  expect(json.products).toEqual({ created: 5, updated: 0, unchanged: 0, failed: 11 })
  expect(json.variants.created).toBe(6)
  expect(json.errors_total).toBe(11)
  const found = json.errors.map(({ row, handle, column = '' }: Record<string, string>) => [
    row,
    handle,
    column
  ])
  expect(found).toEqual([
    [3, 'price-in-words', 'Variant Price'],
    [4, 'price-below-zero', 'Variant Price'],
    [7, 'price-with-three-decimals', 'Variant Price'],
    [8, 'title-missing', 'Title'],
    [9, null, 'Handle'],
    [11, 'Handle illegal/ü?', 'Handle'],
    [14, 'same-options-twice', 'Option1 Value'],
    [15, 'row-too-short', ''],
    [17, 'image-with-script', 'Image Src'],
    [18, 'sku-of-another', 'Variant SKU'],
    [19, 'title-too-long', 'Title']
  ])
  expect((await everything(app, since)).map(product => product.slug).sort()).toEqual([
    'good-first',
    'good-fourth',
    'good-last',
    'good-second',
    'good-third'
  ])
})

test('with all_or_nothing, an invalid product file changes nothing, and the error has the report', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const { status, json } = await importFile(app, fixture('faulty-rows'), 'all_or_nothing')
  expect(status).toBe(400)
  expect(json.code).toBe('CATALOG_IMPORT_FAILED')
  expect(json.report).toMatchObject({
    mode: 'all_or_nothing',
    ignored_columns: expect.arrayContaining(['Cost per item']),
    products: { created: 0, updated: 0, unchanged: 0 },
    variants: { created: 0 }
  })
  expect(json.report.errors_total).toBeGreaterThanOrEqual(10)
  expect(await app.catalog.isEmpty()).toBe(true)
})

test('a product file without a required column is rejected', async () => {
  needsOwnShop()
  const app = await useCatalog()
  for (const mode of ['best_effort', 'all_or_nothing']) {
    const { status, json } = await importFile(app, fixture('missing-columns'), mode)
    expect([status, json.code]).toEqual([400, 'CATALOG_IMPORT_FAILED'])
    expect(json.report.errors).toEqual([
      { row: 1, handle: null, message: 'These columns are missing: Variant Price.' }
    ])
  }
  expect(await app.catalog.isEmpty()).toBe(true)
})

test('product names, quotes and scripts are imported unchanged', async () => {
  // Another test imports the same files.
  needsOwnShop()
  const app = await useCatalog()
  await importFile(app, fixture('bom-and-quotes'))
  const pot = (await app.request('GET', '/api/products/creme-pot')).json
  expect(pot).toMatchObject({
    name: 'Pot “Crème”, 4" wide',
    brand: 'Smith, Jones & "Co"',
    tags: ['crème', '"quoted tag"', 'pot'],
    categories: [{ name: 'Café, thé', slug: 'cafe-the' }],
    variants: [{ sku: 'POT,4"', price: 1_200, weight_grams: 300 }]
  })
  expect(pot.description).toContain('<p class="lead">Says "hello",\r\nthen: ""nothing"".</p>')
  const since = newId()
  await importFile(app, fixture('newer-header'))
  const all = await everything(app, since)
  expect(Object.fromEntries(all.map(({ slug, status }) => [slug, status]))).toEqual({
    'glazed-plate': 'active',
    'unfinished-cup': 'draft',
    'retired-bowl': 'archived',
    'plain-spoon': 'active'
  })
})
