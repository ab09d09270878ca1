import { expect, test } from 'vitest'
import { stockListener } from '../../../../test/support/stock-listener.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { inventoryModule } from '../index.ts'

const useInventory = async () => {
  const shop = await useShop({ modules: [inventoryModule] })
  return { ...shop, admin: shop.as({ token: 'admin' }) }
}
const LOCATIONS = '/api/inventory/locations'

test('a new shop has one stock location, new ones are last, and priorities can change', async () => {
  const { admin } = await useInventory()
  const { json: first } = await admin.get(LOCATIONS)
  expect(first.items).toMatchObject([
    { code: 'main', name: 'Main', active: true, priority: 1, address: null }
  ])
  const created = await admin.post(LOCATIONS, {
    code: 'east',
    name: 'East',
    address: { street: '1 Pier', country: 'SE' }
  })
  expect([created.status, created.json]).toMatchObject([
    201,
    { code: 'east', priority: 2, active: true, version: 1, address: { street: '1 Pier', country: 'SE' } }
  ])
  const east = `${LOCATIONS}/${created.json.id}`
  expect((await admin.patch(`${LOCATIONS}/${first.items[0].id}`, { priority: 3 })).json.version).toBe(2)
  const { json } = await admin.get(`${LOCATIONS}?count=true&limit=1`)
  expect([json.total, json.items[0].code]).toEqual([2, 'east'])
  const next = await admin.get(`${LOCATIONS}?limit=1&cursor=${json.next_cursor}`)
  expect([next.json.items[0].code, next.json.next_cursor]).toEqual(['main', null])
  expect((await admin.get(east)).json).toEqual(created.json)
})

test("a stock location's code is unique, stale versions are rejected, and the last active location stays active", async () => {
  const { admin } = await useInventory()
  expect((await admin.post(LOCATIONS, { code: 'main', name: 'Other' })).json.code).toBe(
    'INVENTORY_LOCATION_CODE_TAKEN'
  )
  const { json: east } = await admin.post(LOCATIONS, { code: 'east', name: 'East', active: false })
  const main = `${LOCATIONS}/${(await admin.get(LOCATIONS)).json.items[0].id}`
  expect((await admin.patch(main, { active: false })).json.code).toBe('INVENTORY_LOCATION_NEEDED')
  const stale = await admin.patch(`${LOCATIONS}/${east.id}`, { active: true }, { 'if-match': '"7"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'INVENTORY_LOCATION_STALE'])
  const changed = await admin.patch(`${LOCATIONS}/${east.id}`, { active: true }, { 'if-match': '"1"' })
  expect([changed.status, changed.headers.etag]).toEqual([200, '"2"'])
  expect((await admin.patch(main, { active: false })).json.active).toBe(false)
  expect((await admin.patch(`${LOCATIONS}/${newId()}`, { name: 'x' })).json.code).toBe(
    'INVENTORY_LOCATION_NOT_FOUND'
  )
})

test('of two simultaneous deactivations of the last two stock locations, one is rejected', async () => {
  const { admin } = await useInventory()
  await admin.post(LOCATIONS, { code: 'east', name: 'East' })
  const { items } = (await admin.get(LOCATIONS)).json
  const answers = await Promise.all(
    items.map(({ id }: { id: string }) => admin.patch(`${LOCATIONS}/${id}`, { active: false }))
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('the 101st stock location is rejected', async () => {
  const { admin, sql } = await useInventory()
  await sql(
    `insert into inventory.locations (id, code, name, priority)
    select gen_random_uuid(), 'l' || n, 'L', n from generate_series(1, 99) as n`
  )
  const { status, json } = await admin.post(LOCATIONS, { code: 'more', name: 'More' })
  expect([status, json.code, json.limit]).toEqual([409, 'INVENTORY_LOCATION_LIMIT', 100])
})

test('stock of an inactive location cannot be bought', async () => {
  const { admin, as, sql } = await useInventory()
  const id = newId()
  await admin.patch(`/api/inventory/items/${id}`, { tracked: true })
  await admin.post(LOCATIONS, { code: 'east', name: 'East' })
  await sql(
    `insert into inventory.levels (item_id, location_id, on_hand) select $1, id, 3 from inventory.locations`,
    [id]
  )
  const available = async () =>
    (await as(null).get(`/api/inventory/availability?variant_ids=${id}`)).json.items[0].available
  await expect.poll(available).toBe(6)
  const { items } = (await admin.get(LOCATIONS)).json
  await admin.patch(`${LOCATIONS}/${items[0].id}`, { active: false })
  expect(await available()).toBe(3)
})

test('activating or deactivating a stock location publishes status changes, also of kits', async () => {
  const { module, heard } = stockListener()
  const { as, sql } = await useShop({ modules: [inventoryModule, module] })
  const admin = as({ token: 'admin' })
  const east = (await admin.post(LOCATIONS, { code: 'east', name: 'East' })).json.id
  const [here, both, kit] = [newId(), newId(), newId()]
  // More than a page of what lies at both locations, and on either side of it what lies here alone.
  await sql(
    `insert into inventory.items (id, tracked)
    select gen_random_uuid(), true from generate_series(1, 1200) union all values ($1::uuid, true), ($2, true), ($3, true)`,
    [here, both, kit]
  )
  await sql(`insert into inventory.items (id, tracked) values ('ffffffff-ffff-4fff-bfff-ffffffffffff', true)`)
  await sql(
    `insert into inventory.levels (item_id, location_id, on_hand)
    select items.id, locations.id, 3 from inventory.items, inventory.locations
    where locations.id = $1 or items.id not in ($2, 'ffffffff-ffff-4fff-bfff-ffffffffffff')`,
    [east, here]
  )
  await admin.put(`/api/inventory/items/${kit}/components`, { components: [{ item_id: both, quantity: 4 }] })
  await expect.poll(() => heard.length).toBe(1)
  heard.splice(0)
  const crossings = () =>
    heard.map(({ payload }) => payload).toSorted((a, b) => (String(a.item_id) < String(b.item_id) ? -1 : 1))
  const expected = (status: string, available: { alone: number; both: number }) =>
    [
      { item_id: here, variant_ids: [here], available: available.alone, status },
      { item_id: both, variant_ids: [kit], available: available.both, status },
      {
        item_id: 'ffffffff-ffff-4fff-bfff-ffffffffffff',
        variant_ids: ['ffffffff-ffff-4fff-bfff-ffffffffffff'],
        available: available.alone,
        status
      }
    ].toSorted((a, b) => (a.item_id < b.item_id ? -1 : 1))
  await admin.patch(`${LOCATIONS}/${east}`, { active: false })
  await expect.poll(crossings).toEqual(expected('out', { alone: 0, both: 3 }))
  heard.splice(0)
  await admin.patch(`${LOCATIONS}/${east}`, { active: true, name: 'Far East' })
  await expect.poll(crossings).toEqual(expected('in', { alone: 3, both: 6 }))
})
