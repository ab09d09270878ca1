import { expect, test } from 'vitest'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { emptyStockLedger } from '../../../../test/support/stock-ledger.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { inventoryModule } from '../index.ts'

shareShops()

/** Two variants at two locations with what an hour of sales left behind. */
async function useBooks() {
  const shop = await useShop({ modules: [inventoryModule] })
  await emptyStockLedger(shop.sql)
  const [mug, cup, owner] = [newId(), newId(), newId()]
  await shop.sql(
    `insert into inventory.locations (id, code, name, priority) values ($1, 'east', 'East', 2)
     on conflict (code) do nothing`,
    [newId()]
  )
  const locations = await shop.sql('select id from inventory.locations order by priority')
  const [main, east] = locations.map(({ id }) => id)
  await shop.sql(
    `insert into inventory.items (id, sku, tracked) values ($1, 'MUG', true), ($2, 'CUP', true)`,
    [mug, cup]
  )
  await shop.sql(
    `insert into inventory.levels (item_id, location_id, on_hand, reserved, safety, seq)
    values ($1, $3, 10, 4, 1, 2), ($1, $4, 2, 3, 0, 1), ($2, $4, 5, 0, 0, 1)`,
    [mug, cup, main, east]
  )
  await shop.sql(
    `insert into inventory.movements (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after,
      reserved_after, operation, owner, reason)
    values ($1, $2, 1, 'count', 10, 0, 10, 0, gen_random_uuid(), null, 'first count'),
      ($1, $2, 2, 'reserve', 0, 4, 10, 4, gen_random_uuid(), $4, null),
      ($1, $3, 1, 'reserve', 0, 3, 2, 3, gen_random_uuid(), $4, null)`,
    [mug, main, east, owner]
  )
  await shop.sql(
    `insert into inventory.reservations (owner, item_id, location_id, quantity, state, expires_at, closed_at)
    values ($1, $2, $3, 4, 'held', now() + interval '1 hour', null),
      ($1, $2, $4, 3, 'confirmed', null, null), (gen_random_uuid(), $2, $4, 1, 'closed', null, now())`,
    [owner, mug, main, east]
  )
  const admin = shop.as({ token: 'admin' })
  /** All pages of a list, two rows each. */
  const listAll = async (path: string) => {
    const rows = []
    for (let cursor = ''; ; ) {
      const { status, json, text } = await admin.get(`${path}limit=2&count=true${cursor}`)
      expect(status, text).toBe(200)
      rows.push(...json.items)
      if (json.next_cursor === null) {
        expect(json.total).toBe(rows.length)
        return rows
      }
      cursor = `&cursor=${json.next_cursor}`
    }
  }
  return { ...shop, admin, listAll, mug, cup, owner }
}

test('stock levels are listed with their available units, by variant and by location', async () => {
  const { listAll, mug, cup } = await useBooks()
  const all = await listAll('/api/inventory/levels?')
  expect(all).toHaveLength(3)
  expect(all).toContainEqual({
    variant_id: mug,
    sku: 'MUG',
    location: 'main',
    on_hand: 10,
    reserved: 4,
    safety: 1,
    available: 5,
    seq: 2,
    updated_at: expect.any(String)
  })
  const available = async (query: string) =>
    (await listAll(`/api/inventory/levels?${query}&`))
      .map(row => [row.sku, row.location, row.available])
      .sort()
  expect(await available(`variant_id=${mug}`)).toEqual([
    ['MUG', 'east', 0],
    ['MUG', 'main', 5]
  ])
  expect(await available('location=east')).toEqual([
    ['CUP', 'east', 5],
    ['MUG', 'east', 0]
  ])
  expect(await available(`location=main&variant_id=${cup}`)).toEqual([])
})

test('stock movements of a variant are listed by location, the newest first', async () => {
  const { listAll, mug, owner } = await useBooks()
  const all = await listAll(`/api/inventory/movements?variant_id=${mug}&`)
  const places = all.map(row => `${row.location} ${row.seq}`)
  expect(places.toSorted()).toEqual(['east 1', 'main 1', 'main 2'])
  expect(places.indexOf('main 1') - places.indexOf('main 2')).toBe(1)
  const [newest, oldest] = await listAll(`/api/inventory/movements?variant_id=${mug}&location=main&`)
  expect(newest).toMatchObject({ kind: 'reserve', reserved_delta: 4, reserved_after: 4, owner, actor: null })
  expect(oldest).toMatchObject({ kind: 'count', on_hand_after: 10, reason: 'first count', owner: null })
})

test('stock movements of all variants are listed newest first, also those of one location', async () => {
  const { sql, listAll, mug, cup } = await useBooks()
  await sql(
    `insert into inventory.movements (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after,
       reserved_after, operation, at)
     select $1::uuid, id, 9, 'adjust', 1, 0, 11, 0, gen_random_uuid(), now() + interval '1 minute' from inventory.locations
     union all
     select $2::uuid, id, 8, 'adjust', 1, 0, 11, 0, gen_random_uuid(), now() - interval '1 minute' from inventory.locations`,
    [mug, cup]
  )
  const all = await listAll('/api/inventory/movements?')
  expect(all).toHaveLength(7)
  expect(all.map(({ at }) => at)).toEqual(
    all
      .map(({ at }) => at)
      .toSorted()
      .toReversed()
  )
  expect(new Set(all.map(row => `${row.variant_id} ${row.location} ${row.seq}`)).size).toBe(7)
  expect([all[0].seq, all[1].seq, all[5].seq, all[6].seq]).toEqual([9, 9, 8, 8])
  const east = await listAll('/api/inventory/movements?location=east&')
  expect(east.map(({ variant_id, seq }) => [variant_id, seq])).toEqual([
    [mug, 9],
    [mug, 1],
    [cup, 8]
  ])
  expect(await listAll('/api/inventory/movements?location=nowhere&')).toEqual([])
})

test('stock reservations are found by owner, variant and state', async () => {
  const { listAll, mug, cup, owner } = await useBooks()
  const found = async (query: string) =>
    (await listAll(`/api/inventory/reservations?${query}&`)).map(row => row.state).sort()
  expect(await found(`owner=${owner}`)).toEqual(['confirmed', 'held'])
  expect(await found(`variant_id=${mug}`)).toEqual(['closed', 'confirmed', 'held'])
  expect(await found(`variant_id=${cup}`)).toEqual([])
  expect(await found('state=held')).toEqual(['held'])
  const [held] = await listAll('/api/inventory/reservations?state=held&')
  expect(held).toMatchObject({ owner, variant_id: mug, location: 'main', quantity: 4, fulfilled: 0 })
  expect(Date.parse(held.expires_at)).not.toBeNaN()
})

test('stock quantities at the supported limits are shown correctly', async () => {
  const shop = await useShop({ modules: [inventoryModule] })
  const { as, sql } = shop
  await emptyStockLedger(shop.sql)
  const admin = as({ token: 'admin' })
  const [owed, full] = [newId(), newId()].sort() as [string, string]
  await admin.put(`/api/inventory/levels/${owed}`, { on_hand: -1_000_000_000, safety: 1_000_000_000 })
  const adjust = (variant_id: string, delta: number) =>
    admin.post('/api/inventory/adjustments', { variant_id, delta, reason: 'beyond all reason' })
  expect((await adjust(owed, -1_000_000_000)).json).toMatchObject({ on_hand: -2_000_000_000, available: 0 })
  // It is tried several times before it is given up: the same request again tells what became of it.
  const headers = { 'idempotency-key': newId() }
  const body = { variant_id: owed, delta: -1_000_000_000, reason: 'beyond all reason' }
  const overdraw = async () => (await admin.post('/api/inventory/adjustments', body, headers)).json.code
  await expect.poll(overdraw).toBe('INVENTORY_REQUEST_FAILED')
  for (let time = 0; time < 2; time += 1) await adjust(full, 1_000_000_000)
  await sql('update inventory.levels set reserved = 2147483647 where item_id = $1', [owed])
  const rule = { backorder: 'limit', backorder_limit: 1_000_000_000, low_threshold: 1 }
  for (const id of [owed, full])
    expect((await admin.patch(`/api/inventory/items/${id}`, rule)).status).toBe(200)
  const asked = `/api/inventory/availability?variant_ids=${owed},${full}`
  expect((await as(null).get(asked)).json.items).toMatchObject([
    { available: 0 },
    { available: 2_147_483_647 }
  ])
  expect((await admin.get('/api/inventory/levels')).json.items).toMatchObject([
    { reserved: 2_147_483_647, available: 0 },
    { available: 2_000_000_000 }
  ])
  expect((await admin.get('/api/inventory/low-stock?count=true')).json).toMatchObject({
    items: [{ id: owed, available: 0 }],
    total: 1
  })
  expect((await admin.get('/api/inventory/export')).text).toContain('2147483647,0')
})
