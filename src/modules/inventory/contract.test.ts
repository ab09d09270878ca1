import { describe, expect, test } from 'vitest'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { newId } from '../../kernel/ids.ts'
import type { Transaction } from '../../platform/postgres/database.ts'
import { fakeInventory } from './fake.ts'
import { type InventoryApi, inventoryModule } from './index.ts'

shareShops()

type Subject = {
  inventory: InventoryApi
  inTransaction(work: (tx: Transaction) => Promise<unknown>): Promise<unknown>
  /** Within a transaction, or what stands for one. */
  availableIn(variantIds: readonly string[]): Promise<(number | null)[]>
  put(variantId: string, available: number | null): Promise<unknown>
  describe(variants: Parameters<InventoryApi['upsertItems']>[1]): Promise<void>
}

async function useReal(): Promise<Subject> {
  const shop = await useShop({ modules: [inventoryModule] })
  const inventory = shop.apiOf(inventoryModule) as InventoryApi
  return {
    inventory,
    inTransaction: work => shop.db.transaction(work),
    availableIn: ids => shop.db.transaction(tx => inventory.availableIn(tx, ids)),
    describe: variants => shop.db.transaction(tx => inventory.upsertItems(tx, variants)),
    put: (id, available) =>
      shop.sql(
        `with item as (insert into inventory.items (id, tracked) values ($1, $2::int is not null)), said as (select pg_notify('cartwright', 'inventory ' || $1::text))
        insert into inventory.levels (item_id, location_id, on_hand)
        select $1, id, coalesce($2, 0) from inventory.locations, said`,
        [id, available]
      )
  }
}

async function useFake(): Promise<Subject> {
  const inventory = fakeInventory()
  return {
    inventory,
    inTransaction: work => work({} as never),
    availableIn: ids => inventory.availableIn({} as never, ids),
    describe: variants => inventory.upsertItems({} as never, variants),
    put: async (id, available) => inventory.put(id, available)
  }
}

/** What every module may rely on that asks the inventory: its fake is held to the same. */
describe.each([
  ['the inventory', useReal],
  ['its fake', useFake]
])('%s', (_what, use) => {
  test('the inventory returns available quantities in the order of the ids, and null for untracked variants', async () => {
    const { inventory, availableIn, put } = await use()
    const [full, empty, uncounted, unknown] = [newId(), newId(), newId(), newId()]
    expect(await inventory.available([full, unknown])).toEqual([null, null])
    await put(full, 7)
    await put(empty, 0)
    await put(uncounted, null)
    const ids = [uncounted, empty, unknown, full, empty]
    await expect.poll(() => inventory.available(ids)).toEqual([null, 0, null, 7, 0])
    expect(await availableIn(ids)).toEqual([null, 0, null, 7, 0])
    expect(await inventory.available([])).toEqual([])
  })

  test('the inventory counts an item that is upserted for the first time from zero on', async () => {
    const { inventory, describe } = await use()
    const [counted, uncounted] = [newId(), newId()]
    await describe([
      { variantId: counted, sku: 'MUG', tracked: true },
      { variantId: uncounted, sku: 'CUP' }
    ])
    expect(await inventory.available([uncounted, counted])).toEqual([null, 0])
    await describe([{ variantId: counted, sku: 'MUG' }])
    expect(await inventory.available([counted])).toEqual([0])
    await describe([
      { variantId: counted, sku: 'MUG', onHand: 4 },
      { variantId: uncounted, sku: 'CUP', onHand: 4 }
    ])
    await expect.poll(() => inventory.available([uncounted, counted])).toEqual([null, 4])
    const said = await inventory.listItems([counted, newId()])
    expect([...said]).toEqual([[counted, { tracked: true, backorder: 'none', onHand: 4 }]])
    await describe([{ variantId: counted, sku: 'MUG', tracked: false }])
    expect(await inventory.available([counted])).toEqual([null])
  })

  test('the inventory reserves all lines or none, claims held reservations and releases unclaimed ones', async () => {
    const { inventory, inTransaction, availableIn, put } = await use()
    const [cup, plate, owner, other] = [newId(), newId(), newId(), newId()]
    await put(cup, 5)
    await put(plate, 1)
    const lines = [
      { variantId: cup, quantity: 2 },
      { variantId: plate, quantity: 1 }
    ]
    await inventory.reserve(owner, lines, 60)
    await inventory.reserve(owner, lines, 60)
    expect(await availableIn([cup, plate])).toEqual([3, 0])
    await expect(inventory.reserve(other, lines, 60)).rejects.toMatchObject({
      code: 'INVENTORY_SHORT',
      details: { items: [{ variant_id: plate, requested: 1, available: 0, message: 'This is sold out.' }] }
    })
    await inventory.reserve(owner, lines.slice(0, 1), 60)
    expect(await availableIn([cup, plate])).toEqual([3, 1])
    const claim = (...of: typeof lines) => inTransaction(tx => inventory.claim(tx, owner, of))
    await expect(claim(...lines)).rejects.toMatchObject({ code: 'INVENTORY_CLAIM_LOST' })
    for (const quantity of [1, 3])
      await expect(claim({ variantId: cup, quantity })).rejects.toMatchObject({
        code: 'INVENTORY_CLAIM_LOST'
      })
    await claim(lines[0] as (typeof lines)[0])
    await inventory.release(owner)
    await expect(inventory.reserve(owner, lines, 60)).rejects.toMatchObject({ code: 'INVENTORY_OWNER_TAKEN' })
    await inTransaction(tx => inventory.confirm(tx, owner))
    expect(await availableIn([cup, plate])).toEqual([3, 1])
    await inventory.reserve(other, [{ variantId: plate, quantity: 1 }], 60)
    await inventory.release(other)
    expect(await availableIn([cup, plate])).toEqual([3, 1])
  })

  test('the inventory applies a posted stock request after its commit', async () => {
    const { inventory, inTransaction, availableIn, put } = await use()
    const [cup, owner] = [newId(), newId()]
    await put(cup, 5)
    const lines = [{ variantId: cup, quantity: 3 }]
    await inventory.reserve(owner, lines, 60)
    await inTransaction(async tx => {
      await inventory.claim(tx, owner, lines)
      await inventory.post(tx, {
        id: newId(),
        kind: 'release',
        owner,
        lines: [{ variantId: cup, quantity: 1 }]
      })
    })
    await expect.poll(() => availableIn([cup])).toEqual([3])
    await inTransaction(tx => inventory.post(tx, { id: newId(), kind: 'release', owner }))
    await expect.poll(() => availableIn([cup])).toEqual([5])
    await inTransaction(tx =>
      inventory.post(tx, { id: newId(), kind: 'return', owner, lines: lines.slice() })
    )
    await expect.poll(() => availableIn([cup])).toEqual([8])
  })

  test('the inventory undoes a shipment once and reserves its units as before', async () => {
    const { inventory, inTransaction, availableIn, put } = await use()
    const [cup, owner, shipment] = [newId(), newId(), newId()]
    await put(cup, 5)
    const lines = [{ variantId: cup, quantity: 3 }]
    await inventory.reserve(owner, lines, 60)
    await inTransaction(async tx => {
      await inventory.claim(tx, owner, lines)
      await inventory.post(tx, { id: shipment, kind: 'ship', owner, lines })
    })
    for (const _ of [1, 2])
      await inTransaction(tx => inventory.post(tx, { id: newId(), kind: 'unship', owner, shipment }))
    await inTransaction(tx => inventory.post(tx, { id: newId(), kind: 'release', owner }))
    await expect.poll(() => availableIn([cup])).toEqual([5])
  })
})
