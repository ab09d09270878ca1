import { expect, test } from 'vitest'
import { openShared, shareShops } from '../../../../test/support/shared-shops.ts'
import { stockListener } from '../../../../test/support/stock-listener.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { type InventoryApi, inventoryModule } from '../index.ts'
import type { InventoryItemInput } from './upsert.ts'

shareShops()

/** A module that subscribes to stock events, and those of all tests that share it. */
const useListener = () => openShared(['listener'], async () => stockListener())

/** An inventory, and a module that hears of its crossings. */
async function useInventory() {
  const { heard, module: listener } = await useListener()
  const own = new Set<string>()
  const crossings = () =>
    heard.filter(({ name, payload }) => name === 'crossed' && own.has(payload.item_id as string))
  const shop = await useShop({ modules: [inventoryModule, listener] })
  const inventory = shop.apiOf(inventoryModule) as InventoryApi
  return {
    ...shop,
    admin: shop.as({ token: 'admin' }),
    inventory,
    describe: (...variants: InventoryItemInput[]) =>
      shop.db.transaction(tx => inventory.upsertItems(tx, variants)),
    /** The id of a new item of this test. */
    newItem: () => {
      const id = newId()
      own.add(id)
      return id
    },
    /** The stored items of this test. */
    items: () => shop.sql('select id, sku from inventory.items where id = any ($1)', [[...own]]),
    /** The crossings of the items of this test since the last time, once there are so many. */
    heard: async (count: number) => {
      await expect.poll(() => crossings().length).toBe(count)
      const found = crossings().map(({ payload }) => payload)
      heard.length = 0
      return found
    }
  }
}

test('an upsert of a stock item sets the given fields, keeps omitted ones and is idempotent', async () => {
  const { admin, describe, newItem } = await useInventory()
  const id = newItem()
  const read = async () => (await admin.get(`/api/inventory/items/${id}`)).json
  await describe({ variantId: id, sku: 'MUG' })
  expect(await read()).toMatchObject({ sku: 'MUG', tracked: false, backorder: 'none' })
  await describe({ variantId: id, sku: 'MUG', tracked: true, backorder: 'any' })
  expect(await read()).toMatchObject({ sku: 'MUG', tracked: true, backorder: 'any' })
  await admin.patch(`/api/inventory/items/${id}`, {
    backorder: 'limit',
    backorder_limit: 4,
    low_threshold: 2
  })
  await describe({ variantId: id, sku: 'CUP' })
  const said = await read()
  expect(said).toMatchObject({ sku: 'CUP', tracked: true, backorder_limit: 4, low_threshold: 2 })
  await describe({ variantId: id, sku: 'CUP', tracked: true })
  expect(await read()).toEqual(said)
  await describe({ variantId: id, sku: 'CUP', backorder: 'none' })
  expect(await read()).toMatchObject({ backorder: 'none', backorder_limit: null, low_threshold: 2 })
})

test('an upsert of a stock item that is rolled back has no effect', async () => {
  const { db, inventory, items, newItem } = await useInventory()
  const failed = db.transaction(async tx => {
    await inventory.upsertItems(tx, [{ variantId: newItem(), sku: 'MUG', tracked: true }])
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  expect(await items()).toEqual([])
})

test('two concurrent upserts of the same stock items in different order both succeed', async () => {
  const { describe, items, newItem } = await useInventory()
  const ids = Array.from({ length: 700 }, newItem)
  const as = (sku: string) => ids.map(variantId => ({ variantId, sku, tracked: true }))
  await Promise.all([describe(...as('A')), describe(...as('B').reverse()), describe(...as('C'))])
  const stored = await items()
  expect([stored.length, new Set(stored.map(({ sku }) => sku)).size]).toEqual([700, 1])
})

test('among upserts of stock items, only changed stock policies emit inventory.crossed', async () => {
  const { admin, describe, heard, inventory, sql, newItem } = await useInventory()
  const [mug, set] = [newItem(), newItem()]
  await describe({ variantId: mug, sku: 'MUG' })
  await describe({ variantId: mug, sku: 'CUP', tracked: true })
  expect(await heard(1)).toEqual([{ item_id: mug, variant_ids: [mug], available: 0, status: 'out' }])
  expect(await inventory.available([mug])).toEqual([0])
  await sql('insert into inventory.levels (item_id, location_id) select $1, id from inventory.locations', [
    mug
  ])

  await admin.put(`/api/inventory/items/${set}/components`, { components: [{ item_id: mug, quantity: 2 }] })
  expect(await heard(1)).toEqual([{ item_id: set, variant_ids: [set], available: 0, status: 'out' }])
  await admin.patch(`/api/inventory/items/${mug}`, {
    backorder: 'limit',
    backorder_limit: 6,
    low_threshold: 6
  })
  expect(await heard(1)).toEqual([{ item_id: mug, variant_ids: [mug, set], available: 6, status: 'low' }])
  expect(await inventory.available([mug, set])).toEqual([6, 3])
  await admin.patch(`/api/inventory/items/${mug}`, { backorder: 'any' })
  expect(await heard(1)).toMatchObject([{ available: null, status: 'in' }])
  await describe({ variantId: mug, sku: 'CUP', tracked: false })
  expect(await heard(1)).toMatchObject([{ available: null, status: 'untracked' }])
  await describe({ variantId: mug, sku: 'CUP', tracked: false })
  await describe({ variantId: mug, sku: 'CUP', tracked: true })
  expect(await heard(1)).toMatchObject([{ item_id: mug, status: 'in' }])
})

test('a first count above zero never emits inventory.crossed with status out', async () => {
  const { admin, describe, heard, inventory, newItem } = await useInventory()
  const [some, none, part, set, known] = [newItem(), newItem(), newItem(), newItem(), newItem()]
  const count = (variantId: string, onHand: number) =>
    describe({ variantId, sku: variantId, tracked: true, onHand })
  expect(await inventory.available([some])).toEqual([null])
  await count(some, 3)
  expect(await heard(1)).toEqual([{ item_id: some, variant_ids: [some], available: 3, status: 'in' }])
  expect(await inventory.available([some])).toEqual([3])

  await count(none, 0)
  expect(await heard(1)).toMatchObject([{ item_id: none, status: 'out' }])

  await describe({ variantId: part, sku: 'PART' })
  const components = [{ item_id: part, quantity: 2 }]
  expect((await admin.put(`/api/inventory/items/${set}/components`, { components })).status).toBe(200)
  expect(await heard(1)).toMatchObject([{ variant_ids: [set], status: 'untracked' }])
  await count(part, 1)
  expect(await heard(2)).toMatchObject([
    { variant_ids: [part, set], status: 'out' },
    { variant_ids: [part], status: 'in' }
  ])
  expect(await inventory.available([part, set])).toEqual([1, 0])

  await count(known, 4)
  await heard(1)
  await describe({ variantId: known, sku: 'KNOWN', tracked: false })
  expect(await heard(1)).toMatchObject([{ status: 'untracked' }])
  await count(known, 4)
  expect(await heard(1)).toMatchObject([{ item_id: known, available: 4, status: 'in' }])
})
