import { expect, test } from 'vitest'
import { useCatalog } from '../../../../test/support/catalog.ts'
import { csvOf, importFile, sized } from '../../../../test/support/csv.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { inventoryModule } from '../../inventory/index.ts'
import { type CatalogApi, catalogModule } from '../index.ts'

const COLUMNS = ['Variant Inventory Tracker', 'Variant Inventory Qty', 'Variant Inventory Policy']

/** A file of one product with the stock of each size. */
const fileOf = (stock: Record<string, readonly [tracker: string, quantity: string, policy: string]>) =>
  csvOf(
    Object.entries(stock).map(([size, given]) => ({
      ...sized('mug', size, size),
      ...Object.fromEntries(COLUMNS.map((column, index) => [column, given[index] ?? '']))
    }))
  )

/** A catalog with an inventory. */
async function useStock() {
  const shop = await useShop({ modules: [catalogModule, inventoryModule] })
  const app = { ...shop, catalog: shop.apiOf(catalogModule) as CatalogApi }
  const requests = async () =>
    (
      await app.sql(
        'select count(*)::int as posted, count(*) filter (where done_at is null)::int as open from inventory.requests'
      )
    )[0]
  return {
    app,
    /** Expects this many stock requests so far, all of them applied before the import returned. */
    counted: async (posted: number) => expect(await requests()).toEqual({ posted, open: 0 }),
    requests,
    items: () => app.sql('select sku, tracked, backorder from inventory.items order by sku'),
    movements: () =>
      app.sql(
        `select sku, kind, on_hand_delta as delta, on_hand_after as after
         from inventory.movements join inventory.items on items.id = movements.item_id order by sku, seq`
      )
  }
}

test('a product file sets tracking and stock, and importing it twice counts once', async () => {
  const { app, counted, items, movements } = await useStock()
  const stock = {
    L: ['shopify', '0', 'deny'],
    M: ['', '9', 'continue'],
    S: ['shopify', '7', 'deny']
  } as const
  const file = fileOf(stock)
  const first = await importFile(app, file)
  for (const column of COLUMNS) expect(first.json.ignored_columns).not.toContain(column)
  await counted(1)
  const given = [
    { sku: 'L', tracked: true, backorder: 'none' },
    { sku: 'M', tracked: false, backorder: 'any' },
    { sku: 'S', tracked: true, backorder: 'none' }
  ]
  const moved = [{ sku: 'S', kind: 'count', delta: 7, after: 7 }]
  expect([await items(), await movements()]).toEqual([given, moved])

  for (const [index, mode] of ['best_effort', 'all_or_nothing'].entries()) {
    const { json } = await importFile(app, file, mode)
    expect(json.variants).toMatchObject({ created: 0, updated: 0, unchanged: 3 })
    await counted(index + 2)
    expect([await items(), await movements()]).toEqual([given, moved])
  }

  const sold = await importFile(app, fileOf({ ...stock, S: ['shopify', '5', 'deny'] }))
  expect(sold.json.variants).toMatchObject({ updated: 0, unchanged: 3 })
  await counted(4)
  expect(await movements()).toEqual([...moved, { sku: 'S', kind: 'count', delta: -2, after: 5 }])
})

test('an imported variant with backorders is in stock at any quantity of the file', async () => {
  const { app, counted } = await useStock()
  const of = (handle: string, quantity: string) => ({
    ...sized(handle, 'S'),
    ...Object.fromEntries(COLUMNS.map((column, index) => [column, ['shopify', quantity, 'continue'][index]]))
  })
  await importFile(app, csvOf([of('few', '3'), of('none', '0')]))
  await counted(1)
  const listed = async () => {
    const { json } = await app.request('GET', '/api/products?in_stock=true')
    return json.items.map(({ slug }: { slug: string }) => slug).toSorted()
  }
  const unheard = () => app.sql('select handler from cartwright.jobs where id > 0')
  await expect.poll(unheard).toEqual([])
  expect(await listed()).toEqual(['few', 'none'])
})

test('a product file that is rejected as a whole sets no stock', async () => {
  const { app, requests, items } = await useStock()
  const row = (handle: string, quantity: string) => ({
    ...sized(handle, 'S'),
    'Variant Inventory Qty': quantity
  })
  // The invalid row is in the second batch, so the first batch was written before.
  const file = csvOf([
    ...Array.from({ length: 250 }, (_, index) => row(`mug${index}`, '7')),
    row('jug', 'many')
  ])
  const { status, json } = await importFile(app, file, 'all_or_nothing')
  expect([status, json.report.errors]).toMatchObject([400, [{ column: 'Variant Inventory Qty' }]])
  expect([await requests(), await items()]).toEqual([{ posted: 0, open: 0 }, []])
})

test('without an inventory, a product import ignores the stock columns', async () => {
  const app = await useCatalog()
  const { json } = await importFile(app, fileOf({ S: ['shopify', 'many', 'perhaps'] }))
  expect(json).toMatchObject({ products: { created: 1, failed: 0 }, errors_total: 0 })
  expect(json.ignored_columns).toEqual(expect.arrayContaining(COLUMNS))
})
