import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { inventoryModule } from '../../inventory/index.ts'
import { catalogModule } from '../index.ts'

/** A folder with exports of real Shopify shops. Optional. */
const REAL = process.env.SHOPIFY_FILES ?? ''
const DEMO = new URL('../../../../demo/catalog.csv', import.meta.url)
const real = existsSync(REAL) ? (await readdir(REAL)).filter(name => /^shopify.*\.csv$/.test(name)) : []

/** Sorts products, because those of the same instant are in any order. */
const linesOf = (text: string) => text.split('\r\n').sort()

const useCatalog = async () => {
  const shop = await useShop({ modules: [inventoryModule, catalogModule] })
  const token = 'admin'
  return {
    ...shop,
    importCsv: async (body: string) => {
      const headers = { 'content-type': 'text/csv' }
      const { json, text } = await shop.request('POST', '/api/catalog/import', { token, headers, body })
      expect(json?.products.failed, text).toBe(0)
      return json
    },
    exportCsv: async (query = '') => {
      const answer = await shop.request('GET', `/api/catalog/export${query}`, { token })
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
      return answer.text
    },
    /** All stored data, without ids and times. */
    contents: () =>
      shop.sql(
        `select products.slug, products.name, description, brand, status, tags, options, images,
          (select array_agg(categories.name) from catalog.product_categories
           join catalog.categories on categories.id = category_id where product_id = products.id) as categories,
          (select jsonb_agg(jsonb_build_array(variants.sku, variants.name, price_minor, sale_price_minor, attributes,
             image_url, weight_grams, barcode, active, position, requires_shipping, tracked, backorder,
             (select sum(on_hand) from inventory.levels where item_id = items.id)) order by position)
           from catalog.variants left join inventory.items on items.id = variants.id
           where product_id = products.id) as variants
         from catalog.products order by products.slug`
      )
  }
}

test.each([...real.map(name => `${REAL}/${name}`), DEMO])(
  'the product file %s is unchanged after import, export and import into an empty shop',
  async file => {
    const [shop, other] = [await useCatalog(), await useCatalog()]
    await shop.importCsv(await readFile(file, 'utf8'))
    const contents = await shop.contents()
    expect(contents.length).toBeGreaterThan(5)
    const exported = await shop.exportCsv('?stock=true')
    await other.importCsv(exported)
    expect(await other.contents()).toEqual(contents)
    expect(linesOf(await other.exportCsv('?stock=true'))).toEqual(linesOf(exported))
    // Importing it into the same shop changes nothing, with or without stock.
    const counts = { created: 0, updated: 0, failed: 0 }
    for (const again of [exported, await shop.exportCsv()])
      expect((await shop.importCsv(again)).products).toMatchObject(counts)
    expect(await shop.contents()).toEqual(contents)
  }
)

test.skipIf(real.length > 0)(
  'product files of real shops are imported and exported unchanged',
  ({ skip }) => {
    skip('SHOPIFY_FILES names no folder with files that Shopify has exported (shopify*.csv)')
  }
)

test('stock is exported with products on request only, and products that the format cannot express are skipped', async () => {
  const shop = await useCatalog()
  const admin = shop.as({ token: 'admin' })
  const made = async (body: object) =>
    expect((await admin.post('/api/catalog/products', body)).status).toBe(201)
  await made({ name: '=1+1', slug: 'sum', variants: [{ sku: '007', price: 1_250, sale_price: 990 }] })
  await made({ name: 'Not yet', slug: 'later' })
  await made({ name: 'Euros', slug: 'euros', variants: [{ sku: 'EUR', price: 5, currency: 'EUR' }] })
  const text = await shop.exportCsv()
  const [head = '', ...rows] = text.trim().split('\r\n')
  expect(head).not.toContain('Inventory')
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatch(/^sum,'=1\+1,.*,Title,Default Title,,,,,007,.*9\.90,12\.50/)
  expect(await shop.exportCsv('?stock=true')).toContain('Variant Inventory Tracker')
})

test('product slugs with capitals survive an export and import, in the same and in an empty shop', async () => {
  const [shop, other] = [await useCatalog(), await useCatalog()]
  for (const slug of ['Mug-XL', 'mug-xl', 'BOWL', 'Été']) {
    const product = { name: slug, slug, variants: [{ sku: `sku ${slug}`, price: 1_000 }] }
    expect((await shop.as({ token: 'admin' }).post('/api/catalog/products', product)).status).toBe(201)
  }
  const contents = await shop.contents()
  const exported = await shop.exportCsv()
  expect((await shop.importCsv(exported)).products).toMatchObject({ created: 0, updated: 0, unchanged: 4 })
  expect((await other.importCsv(exported)).products).toMatchObject({ created: 4 })
  for (const { contents: present } of [shop, other]) expect(await present()).toEqual(contents)
  expect(contents.map(({ slug }) => slug)).toContain('Mug-XL')
})

test('a large catalog is exported completely, each product once', async () => {
  const shop = await useCatalog()
  const handles = Array.from({ length: 105 }, (_, number) => `mug-${number}`)
  await shop.importCsv(`Handle,Title,Variant Price\n${handles.map(each => `${each},Mug,1`).join('\n')}\n`)
  const rows = (await shop.exportCsv()).trim().split('\r\n').slice(1)
  expect(rows.map(row => row.split(',')[0]).sort()).toEqual(handles.sort())
})
