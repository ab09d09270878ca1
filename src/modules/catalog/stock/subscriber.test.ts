import { expect, test } from 'vitest'
import { type CatalogApp, changesOf, createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { fakeInventory } from '../../inventory/fake.ts'
import { inventoryModule } from '../../inventory/index.ts'
import { catalogModule } from '../index.ts'
import { refreshAllStockStatuses } from './refresh.ts'
import { refreshVariantInStockFlags } from './subscriber.ts'

async function useStock() {
  const inventory = fakeInventory()
  const app = await useCatalog({}, undefined, inventory)
  const changes = changesOf(app.platform)
  const hear = (...variantIds: string[]) =>
    app.platform.db.transaction(tx => refreshVariantInStockFlags(tx, variantIds, { inventory, changes }))
  return { app, inventory, hear }
}
const list = async (app: Pick<CatalogApp, 'request'>, query = '') => {
  const { json } = await app.request('GET', `/api/products?sort=name&count=true${query}`)
  const items = json.items.map((item: { name: string; in_stock: boolean }) => [item.name, item.in_stock])
  return { items, total: json.total }
}
/** Waits, because changes by other processes and direct SQL take effect a moment later. */
const expectList = (app: Pick<CatalogApp, 'request'>, query = '') => expect.poll(() => list(app, query))
const expectItems = (app: Pick<CatalogApp, 'request'>, query = '') =>
  expect.poll(async () => (await list(app, query)).items)
const idsOf = ({ variants }: { variants: { id: string }[] }) => variants.map(({ id }) => id)

test("product lists show and filter by stock status after the inventory's event", async () => {
  const { app, inventory, hear } = await useStock()
  const [mug = ''] = idsOf(await createProduct(app, { name: 'Mug' }))
  const variants = ['S', 'M'].map(sku => ({ sku, price: 100 }))
  const [small = '', medium = ''] = idsOf(await createProduct(app, { name: 'Shirt', variants }))
  await createProduct(app, { name: 'Vase' })
  const all = {
    items: [
      ['Mug', true],
      ['Shirt', true],
      ['Vase', true]
    ],
    total: 3
  }
  await expectList(app).toEqual(all)
  await expectList(app, '&in_stock=true').toEqual(all)
  await expectList(app, '&in_stock=false').toEqual({ items: [], total: 0 })

  inventory.put(mug, 0)
  inventory.put(small, 0)
  await hear(small, mug, mug)
  await expectItems(app).toEqual([
    ['Mug', false],
    ['Shirt', true],
    ['Vase', true]
  ])
  await expectList(app, '&in_stock=false').toEqual({ items: [['Mug', false]], total: 1 })
  inventory.put(medium, 0)
  await hear(medium)
  await expectItems(app, '&in_stock=true').toEqual([['Vase', true]])
  const { json } = await app.request('GET', '/api/products?in_stock=false&limit=1&sort=name')
  const next = await app.request(
    'GET',
    `/api/products?in_stock=false&limit=1&sort=name&cursor=${json.next_cursor}`
  )
  expect([json.items[0].name, next.json.items[0].name]).toEqual(['Mug', 'Shirt'])
  const other = await app.request('GET', `/api/products?limit=1&sort=name&cursor=${json.next_cursor}`)
  expect(other.json.code).toBe('INVALID_CURSOR')

  inventory.put(mug, 4)
  await hear(mug)
  await expectItems(app, '&in_stock=true').toEqual([
    ['Mug', true],
    ['Vase', true]
  ])
})

test('repeated, late and unrelated stock events change no stock status', async () => {
  const { app, inventory, hear } = await useStock()
  const [mug = ''] = idsOf(await createProduct(app, { name: 'Mug' }))
  inventory.put(mug, 0)
  await hear(mug)
  const revision = async () => (await app.sql('select value from catalog.revision'))[0]
  const before = await revision()
  await hear(mug)
  await hear('0198a4c1-0000-7000-8000-000000000000')
  await hear()
  expect(await revision()).toEqual(before)
})

test('an inactive variant does not put its product in stock', async () => {
  const { app, inventory, hear } = await useStock()
  const { id, variants } = await createProduct(app, { name: 'Mug' })
  await app.request('PATCH', `/api/catalog/variants/${variants[0].id}`, {
    token: 'admin',
    body: { active: false }
  })
  await expectItems(app).toEqual([['Mug', false]])
  const added = { sku: 'B', price: 100 }
  await app.request('POST', `/api/catalog/products/${id}/variants`, { token: 'admin', body: added })
  await expectItems(app).toEqual([['Mug', true]])
  inventory.put(variants[0].id, 0)
  await hear(variants[0].id)
  await expectItems(app).toEqual([['Mug', true]])
})

test('without an inventory every product is in stock, also when stock was tracked before', async () => {
  const { app, inventory, hear } = await useStock()
  const [mug = ''] = idsOf(await createProduct(app, { name: 'Mug' }))
  inventory.put(mug, 0)
  await hear(mug)
  const uncounted = await useCatalog({}, app.databaseUrl)
  await expectList(uncounted).toEqual({ items: [['Mug', true]], total: 1 })
  await expectList(uncounted, '&in_stock=true').toEqual({ items: [['Mug', true]], total: 1 })
  await expectList(uncounted, '&in_stock=false').toEqual({ items: [], total: 0 })
})

test('each process of the catalog handles the stock events of the inventory', async () => {
  const modules = [catalogModule, inventoryModule]
  const app = await useShop({ modules })
  const other = await useShop({ modules, databaseUrl: app.databaseUrl })
  const [mug = ''] = idsOf(await createProduct(app, { name: 'Mug' }))
  const items = await app.sql('select sku from inventory.items where id = $1', [mug])
  expect(items).toHaveLength(1)
  const track = async (tracked: boolean) => {
    const path = `/api/inventory/items/${mug}`
    const { status } = await app.request('PATCH', path, { token: 'admin', body: { tracked } })
    expect(status).toBe(200)
  }
  await track(true)
  for (const each of [app, other])
    await expectList(each, '&in_stock=false').toEqual({ items: [['Mug', false]], total: 1 })
  await track(false)
  for (const each of [app, other])
    await expectList(each, '&in_stock=true').toEqual({ items: [['Mug', true]], total: 1 })
})

test('stock status changes that were missed while a module was disabled are refreshed', async () => {
  const { app, inventory } = await useStock()
  const [mug = ''] = idsOf(await createProduct(app, { name: 'Mug' }))
  const [jug = ''] = idsOf(await createProduct(app, { name: 'Jug' }))
  const described: string[] = []
  const telling = {
    ...inventory,
    upsertItems: async (_tx: unknown, variants: readonly { variantId: string }[]) => {
      described.push(...variants.map(each => each.variantId))
    }
  }
  inventory.put(mug, 0)
  const { db, broadcast } = app.platform
  const deps = {
    db,
    changes: changesOf({ db, broadcast }),
    inventory: telling
  }
  expect(await refreshAllStockStatuses(deps)).toBe(1)
  expect(described.toSorted()).toEqual([mug, jug].toSorted())
  await expectItems(app).toEqual([
    ['Jug', true],
    ['Mug', false]
  ])
  expect(await refreshAllStockStatuses(deps)).toBe(0)
})
