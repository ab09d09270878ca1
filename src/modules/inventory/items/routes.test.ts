import { expect, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { inventoryModule } from '../index.ts'

shareShops()

const useInventory = async (databaseUrl?: string) => {
  const shop = await useShop({ modules: [inventoryModule], databaseUrl })
  const admin = shop.as({ token: 'admin' })
  return {
    ...shop,
    admin,
    /** What is on hand of it at the first location; it is counted from now on. */
    put: async (id: string, onHand: number) => {
      await admin.patch(`/api/inventory/items/${id}`, { tracked: true })
      await shop.sql(
        `insert into inventory.levels (item_id, location_id, on_hand)
        select $1, id, $2 from inventory.locations order by priority limit 1
        on conflict (item_id, location_id) do update set on_hand = excluded.on_hand`,
        [id, onHand]
      )
    },
    available: async (...ids: string[]) =>
      (await shop.as(null).get(`/api/inventory/availability?variant_ids=${ids}`)).json.items.map(
        (item: { available: number | null }) => item.available
      )
  }
}
const at = (id: string) => `/api/inventory/items/${id}`

test('an update of an unknown stock item creates it, and omitted fields of a known one are kept', async () => {
  const { admin, put } = await useInventory()
  const id = newId()
  expect((await admin.get(at(id))).json.code).toBe('INVENTORY_ITEM_NOT_FOUND')
  const made = await admin.patch(at(id), { tracked: true, low_threshold: 3 })
  expect([made.status, made.json]).toMatchObject([
    200,
    {
      id,
      sku: null,
      tracked: true,
      backorder: 'none',
      backorder_limit: null,
      low_threshold: 3,
      available: 0,
      components: []
    }
  ])
  await put(id, 0)
  const changed = await admin.patch(at(id), { backorder: 'limit', backorder_limit: 4 })
  expect(changed.json).toMatchObject({ tracked: true, low_threshold: 3, backorder_limit: 4, available: 4 })
  const nothing = await admin.patch(at(id), {})
  expect(nothing.json.version).toBe(changed.json.version)
  expect((await admin.patch(at(id), { backorder: 'any' })).json).toMatchObject({
    backorder_limit: null,
    available: null
  })
})

test('backorder_limit without its backorder rule, stale versions and unknown fields are rejected', async () => {
  const { admin } = await useInventory()
  const id = newId()
  for (const body of [
    { backorder: 'limit' },
    { backorder_limit: 5 },
    { backorder: 'any', backorder_limit: 5 }
  ])
    expect((await admin.patch(at(id), body)).json.code).toBe('INVENTORY_BACKORDER_INVALID')
  await admin.patch(at(id), { tracked: true })
  const stale = await admin.patch(at(id), { tracked: false }, { 'if-match': '"9"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'INVENTORY_ITEM_STALE'])
  const { headers, json } = await admin.get(at(id))
  expect(headers.etag).toBe(`"${json.version}"`)
  const changed = await admin.patch(at(id), { tracked: false }, { 'if-match': `"${json.version}"` })
  expect(changed.status).toBe(200)
  expect((await admin.patch(at(id), { on_hand: 5 })).status).toBe(400)
})

test('another process sees immediately that an item became tracked', async () => {
  const one = await useInventory()
  const other = await useInventory(one.databaseUrl)
  const id = newId()
  expect([await one.available(id), await other.available(id)]).toEqual([[null], [null]])
  await one.put(id, 5)
  await expect.poll(() => other.available(id)).toEqual([5])
  await one.admin.patch(at(id), { tracked: false })
  expect(await one.available(id)).toEqual([null])
  await expect.poll(() => other.available(id)).toEqual([null])
})

test('the available quantity of a kit follows from its parts immediately', async () => {
  const { admin, put, available } = await useInventory()
  const [kit, cup, saucer] = [newId(), newId(), newId()]
  await put(cup, 7)
  await put(saucer, 9)
  const components = [
    { item_id: cup, quantity: 2 },
    { item_id: saucer, quantity: 1 }
  ]
  const made = await admin.put(`${at(kit)}/components`, { components })
  expect(made.status).toBe(200)
  expect(made.json.available).toBe(3)
  expect(made.json.components).toEqual(
    components.toSorted((one, other) => (one.item_id < other.item_id ? -1 : 1))
  )
  expect(await available(kit)).toEqual([3])
  await admin.patch(at(cup), { tracked: false })
  expect(await available(kit, cup)).toEqual([9, null])
  const { json } = await admin.put(`${at(kit)}/components`, { components: [] })
  expect([json.components, json.available, json.version]).toEqual([[], null, made.json.version + 1])
})

test("a kit's component must exist, be listed once and be no kit; a kit cannot be a component", async () => {
  const { admin, put } = await useInventory()
  const [kit, part, other] = [newId(), newId(), newId()]
  await put(part, 1)
  await put(other, 1)
  const replace = async (id: string, ...itemIds: string[]) => {
    const components = itemIds.map(item_id => ({ item_id, quantity: 1 }))
    const { status, json } = await admin.put(`${at(id)}/components`, { components })
    return status === 200 ? 200 : json.code
  }
  expect(await replace(kit, newId())).toBe('INVENTORY_ITEM_NOT_FOUND')
  expect(await replace(kit, part, part)).toBe('INVENTORY_COMPONENT_TWICE')
  expect(await replace(kit, kit)).toBe('INVENTORY_KIT_NESTED')
  expect(await replace(kit, part)).toBe(200)
  expect(await replace(part, other)).toBe('INVENTORY_KIT_NESTED')
  expect(await replace(other, kit)).toBe('INVENTORY_KIT_NESTED')
  expect(await replace(kit, ...Array.from({ length: 51 }, newId))).toBe('VALIDATION_FAILED')
  expect(await replace(kit)).toBe(200)
  expect(await replace(part, other)).toBe(200)
})

test('of two kits that would contain each other, only one is created', async () => {
  const { admin, put } = await useInventory()
  const [one, other] = [newId(), newId()]
  await put(one, 1)
  await put(other, 1)
  const answers = await Promise.all([
    admin.put(`${at(one)}/components`, { components: [{ item_id: other, quantity: 1 }] }),
    admin.put(`${at(other)}/components`, { components: [{ item_id: one, quantity: 1 }] })
  ])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('stock items are filtered by SKU and by tracking', async () => {
  needsOwnShop()
  const { admin, put, sql } = await useInventory()
  const [counted, uncounted] = [newId(), newId()].sort() as [string, string]
  await put(counted, 4)
  await sql(`insert into inventory.items (id, sku) values ($1, 'MUG')`, [uncounted])
  const list = async (query: string) => {
    const { items, total } = (await admin.get(`/api/inventory/items?count=true${query}`)).json
    return [
      total,
      ...items.map((item: { id: string; available: number | null }) => [item.id, item.available])
    ]
  }
  expect(await list('')).toEqual([2, [uncounted, null], [counted, 4]])
  expect(await list('&tracked=true')).toEqual([1, [counted, 4]])
  expect(await list('&tracked=false')).toEqual([1, [uncounted, null]])
  expect(await list('&sku=MUG')).toEqual([1, [uncounted, null]])
  expect(await list('&sku=mug')).toEqual([0])
})

test('a tracked item at or below its threshold is listed as low in stock', async () => {
  const { admin, put } = await useInventory()
  const [low, enough, endless, careless] = [newId(), newId(), newId(), newId()]
  for (const id of [low, enough, endless, careless]) await put(id, 2)
  await admin.patch(at(low), { low_threshold: 2 })
  await admin.patch(at(enough), { low_threshold: 1 })
  await admin.patch(at(endless), { low_threshold: 5, backorder: 'any' })
  const { json } = await admin.get('/api/inventory/low-stock?count=true')
  expect([json.total, json.items]).toEqual([1, [{ id: low, sku: null, available: 2, low_threshold: 2 }]])
})

test('the list of low stock follows sales, counts, thresholds and locations', async () => {
  needsOwnShop()
  const { admin, put, sql } = await useInventory()
  const id = newId()
  const lowStock = async () => {
    const { items, total } = (await admin.get('/api/inventory/low-stock?count=true')).json
    return [total, ...items.map((item: { available: number }) => item.available)]
  }
  const becomes = (...expected: number[]) => expect.poll(lowStock).toEqual(expected)
  await put(id, 3)
  await admin.patch(at(id), { low_threshold: 2 })
  expect(await lowStock()).toEqual([0])
  await admin.post('/api/inventory/adjustments', { variant_id: id, delta: -1, reason: 'broken' })
  await becomes(1, 2)
  expect((await admin.put(`/api/inventory/levels/${id}`, { on_hand: 9 })).status).toBe(200)
  await becomes(0)
  const [main] = (await admin.get('/api/inventory/locations')).json.items
  await admin.post('/api/inventory/locations', { code: 'east', name: 'East' })
  const use = (active: boolean) => admin.patch(`/api/inventory/locations/${main.id}`, { active })
  expect((await use(false)).status).toBe(200)
  await becomes(1, 0)
  expect((await use(true)).status).toBe(200)
  await becomes(0)
  await admin.patch(at(id), { low_threshold: 9 })
  expect(await lowStock()).toEqual([1, 9])
  await admin.patch(at(id), { low_threshold: null })
  expect(await lowStock()).toEqual([0])

  // A sale that committed while the threshold was changed announced nothing.
  await admin.patch(at(id), { low_threshold: 2 })
  await expect.poll(() => sql('select handler from cartwright.jobs where id > 0')).toEqual([])
  await sql('update inventory.levels set on_hand = 1 where item_id = $1', [id])
  expect(await lowStock()).toEqual([0])
  await doOnceMore({ sql }, 'inventory.check_books')
  expect(await lowStock()).toEqual([1, 1])
})
