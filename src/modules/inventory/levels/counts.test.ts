import { expect, test } from 'vitest'
import { openShared, shareShops } from '../../../../test/support/shared-shops.ts'
import { stockListener } from '../../../../test/support/stock-listener.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { type InventoryApi, inventoryModule } from '../index.ts'

shareShops()

/** An inventory with a module that hears of what happens there. */
async function useInventory(databaseUrl?: string) {
  const { module, heard, statusesOf } = await openShared(['stock listener'], async () => stockListener())
  const shop = await useShop({ modules: [inventoryModule, module], databaseUrl })
  const admin = shop.as({ token: 'admin' })
  return {
    ...shop,
    admin,
    heard,
    statusesOf,
    inventory: shop.apiOf(inventoryModule) as InventoryApi,
    count: (id: string, body: object, headers = {}) =>
      admin.put(`/api/inventory/levels/${id}`, body, headers),
    adjust: (variant_id: string, delta: number, headers = {}) =>
      admin.post('/api/inventory/adjustments', { variant_id, delta, reason: 'broken' }, headers),
    movements: async (id: string) =>
      (await admin.get(`/api/inventory/movements?variant_id=${id}`)).json.items.map(
        (row: { kind: string; on_hand_delta: number; on_hand_after: number }) => [
          row.kind,
          row.on_hand_delta,
          row.on_hand_after
        ]
      )
  }
}

test('a stock count starts tracking, sets the units on hand and is visible immediately', async () => {
  const { admin, count, inventory, movements } = await useInventory()
  const id = newId()
  const counted = await count(id, { on_hand: 7, safety: 2, reason: 'first count' })
  expect([counted.status, counted.json]).toEqual([
    200,
    {
      variant_id: id,
      sku: null,
      location: 'main',
      on_hand: 7,
      reserved: 0,
      safety: 2,
      available: 5,
      seq: 1,
      updated_at: expect.any(String),
      applied: true,
      short: false
    }
  ])
  expect(await inventory.available([id])).toEqual([5])
  expect((await count(id, { on_hand: 9 })).json).toMatchObject({ on_hand: 9, safety: 2 })
  expect(await movements(id)).toEqual([
    ['count', 2, 9],
    ['count', 7, 7]
  ])
  const { items } = (await admin.get(`/api/inventory/movements?variant_id=${id}`)).json
  expect(items[1]).toMatchObject({ reason: 'first count', actor: expect.stringMatching(/^[\da-f-]{36}$/) })
  expect((await count(id, { on_hand: 1, location: 'nowhere' })).json.code).toBe(
    'INVENTORY_LOCATION_NOT_FOUND'
  )
})

test('a change of the safety stock alone gets a number of its own and a movement of no units', async () => {
  const { admin, count, movements } = await useInventory()
  const id = newId()
  const since = encodeURIComponent(new Date().toISOString())
  await count(id, { on_hand: 10 })
  const poll = async () => {
    const { items } = (await admin.get(`/api/inventory/levels?updated_since=${since}`)).json
    return items.filter((level: { variant_id: string }) => level.variant_id === id)
  }
  expect(await poll()).toMatchObject([{ safety: 0, seq: 1 }])
  expect((await count(id, { on_hand: 10, safety: 4 })).json).toMatchObject({ safety: 4, seq: 2 })
  expect(await poll()).toMatchObject([{ safety: 4, seq: 2 }])
  expect((await count(id, { on_hand: 10, safety: 4 })).json).toMatchObject({ safety: 4, seq: 2 })
  expect((await count(id, { on_hand: 12, safety: 5 })).json).toMatchObject({ safety: 5, seq: 3 })
  expect(await movements(id)).toEqual([
    ['count', 2, 12],
    ['count', 0, 10],
    ['count', 10, 10]
  ])
  expect((await admin.get('/api/inventory/check')).json).toMatchObject({ total: 0 })
})

test('a count that only raises the source version leaves what a level shows as it is', async () => {
  const { admin, count, sql } = await useInventory()
  const id = newId()
  await count(id, { on_hand: 10, source_version: 1 })
  await sql(`update inventory.levels set updated_at = now() - interval '1 hour' where item_id = $1`, [id])
  const level = async () => (await admin.get(`/api/inventory/levels?variant_id=${id}`)).json.items
  const before = await level()
  expect((await count(id, { on_hand: 10, source_version: 2 })).json).toMatchObject({ applied: true, seq: 1 })
  expect(await level()).toEqual(before)
})

test('a stock adjustment adds or removes units, can go below zero, and cannot be zero', async () => {
  const { adjust, movements } = await useInventory()
  const id = newId()
  const first = await adjust(id, 4)
  expect([first.status, first.json.on_hand]).toEqual([201, 4])
  expect((await adjust(id, -6)).json).toMatchObject({ on_hand: -2, available: 0 })
  expect((await adjust(id, 0)).status).toBe(400)
  expect(await movements(id)).toEqual([
    ['adjust', -6, -2],
    ['adjust', 4, 4]
  ])
})

test('a repeated request counts and adjusts stock once, also in another process', async () => {
  const one = await useInventory()
  const other = await useInventory(one.databaseUrl)
  const id = newId()
  await one.count(id, { on_hand: 10 })
  const key = { 'idempotency-key': newId() }
  const answers = [
    await one.adjust(id, -3, key),
    await other.adjust(id, -3, key),
    await one.adjust(id, -3, key)
  ]
  expect(answers.map(({ status, json }) => [status, json.on_hand])).toEqual(Array(3).fill([201, 7]))
  expect(await one.movements(id)).toHaveLength(2)
})

test('a stock adjustment retried after the process died behind its commit returns the committed outcome', async () => {
  const { adjust, count, movements, sql } = await useInventory()
  const id = newId()
  await count(id, { on_hand: 10 })
  const key = { 'idempotency-key': newId() }
  const since = new Date()
  await adjust(id, -3, key)
  // What a process leaves behind that ends between its commit and its answer.
  const rows = await sql(
    `update cartwright.idempotency_keys set state = 'applied', status = null, answer = null, lease_until = now()
    where status = 201 and created_at >= $1 returning state`,
    [since]
  )
  expect(rows).toHaveLength(1)
  const again = await adjust(id, -3, key)
  expect([again.status, again.json.on_hand]).toEqual([201, 7])
  expect(await movements(id)).toHaveLength(2)
})

test('a stale stock count changes nothing and is reported', async () => {
  const { count } = await useInventory()
  const id = newId()
  await count(id, { on_hand: 5, source_version: 7 })
  for (const source_version of [7, 6])
    expect((await count(id, { on_hand: 9, source_version })).json).toMatchObject({
      on_hand: 5,
      applied: false
    })
  expect((await count(id, { on_hand: 9, source_version: 8 })).json).toMatchObject({
    on_hand: 9,
    applied: true
  })
})

test('a stock count below the reserved units is accepted, names the orders, and a receipt resolves it', async () => {
  const { count, db, heard, inventory } = await useInventory()
  const [id, owner] = [newId(), newId()]
  await count(id, { on_hand: 5 })
  const lines = [{ variantId: id, quantity: 4 }]
  await inventory.reserve(owner, lines, 60)
  await db.transaction(tx => inventory.claim(tx, owner, lines))
  expect((await count(id, { on_hand: 1 })).json).toMatchObject({
    on_hand: 1,
    reserved: 4,
    available: 0,
    applied: true,
    short: true
  })
  await expect
    .poll(() => heard.filter(({ name, payload }) => name === 'short' && payload.item_id === id))
    .toMatchObject([{ payload: { item_id: id, on_hand: 1, reserved: 4, owners: [owner] } }])
  expect((await count(id, { on_hand: 6 })).json).toMatchObject({ short: false, available: 2 })
})

test('inventory.crossed is emitted when the last unit is sold and when units return', async () => {
  const { count, inventory, statusesOf } = await useInventory()
  const [id, owner] = [newId(), newId()]
  await count(id, { on_hand: 2 })
  const statuses = () => statusesOf(id)
  await expect.poll(statuses).toEqual(['out', 'in'])
  await inventory.reserve(owner, [{ variantId: id, quantity: 1 }], 60)
  await inventory.reserve(owner, [{ variantId: id, quantity: 2 }], 60)
  expect(await inventory.available([id])).toEqual([0])
  await inventory.release(owner)
  await expect.poll(statuses).toEqual(['out', 'in', 'out', 'in'])
  expect(await inventory.available([id])).toEqual([2])
})

test('a buyer sees the remaining stock immediately, also of kits, despite the cache', async () => {
  const { admin, count, inventory, record } = await useInventory()
  const [cup, set, owner] = [newId(), newId(), newId()]
  await count(cup, { on_hand: 9 })
  await admin.put(`/api/inventory/items/${set}/components`, { components: [{ item_id: cup, quantity: 2 }] })
  const available = () => inventory.available([cup, set])
  const isKept = async () => {
    const { result, statements } = await record(available)
    return JSON.stringify([result, statements.length])
  }
  await expect.poll(isKept).toBe('[[9,4],0]')
  await inventory.reserve(owner, [{ variantId: set, quantity: 1 }], 60)
  expect(await available()).toEqual([7, 3])
  await expect.poll(isKept).toBe('[[7,3],0]')
  await inventory.release(owner)
  expect(await available()).toEqual([9, 4])
})

test('units on hand of an upserted item are posted to its stock level after the commit, once', async () => {
  const { db, inventory, movements } = await useInventory()
  const ids = Array.from({ length: 250 }, newId)
  const describe = () =>
    db.transaction(tx =>
      inventory.upsertItems(
        tx,
        ids.map((variantId, index) => ({ variantId, sku: `S${index}`, tracked: true, onHand: index }))
      )
    )
  await describe()
  const expected = ids.map((_, index) => index)
  await expect.poll(() => inventory.availableIn(db, ids)).toEqual(expected)
  await describe()
  await inventory.reserve(newId(), [{ variantId: ids[5] as string, quantity: 5 }], 60)
  expect(await movements(ids[5] as string)).toHaveLength(2)
})
