import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { type InventoryApi, inventoryModule } from '../index.ts'

const CSV = { 'content-type': 'text/csv' }
const IMPORT = '/api/inventory/import'

async function useInventory() {
  const shop = await useShop({ modules: [inventoryModule] })
  const admin = shop.as({ token: 'admin' })
  const send = (file: string, query = '') => admin.post(`${IMPORT}${query}`, file, CSV)
  const inventory = shop.apiOf(inventoryModule) as InventoryApi
  /** Variants with these SKUs, of which nothing is counted yet. */
  const know = async (...skus: string[]) => {
    const ids = skus.map(() => newId())
    await shop.db.transaction(tx =>
      inventory.upsertItems(
        tx,
        ids.map((variantId, index) => ({ variantId, sku: skus[index] as string }))
      )
    )
    return ids as [string, ...string[]]
  }
  const levels = () =>
    shop.sql(
      `select sku, code, on_hand, safety from inventory.levels join inventory.items on items.id = item_id
      join inventory.locations on locations.id = location_id order by sku, code`
    )
  const movements = () =>
    shop.sql('select kind, on_hand_after, reason, actor from inventory.movements order by at, seq')
  return { ...shop, admin, inventory, send, know, levels, movements }
}
const fileOf = (...rows: (string | number)[][]) => rows.map(cells => cells.join(',')).join('\n')

test('an edited stock export is imported, and a second upload of it counts nothing, despite sales in between', async () => {
  const { admin, db, inventory, know, send, levels, movements, sql } = await useInventory()
  const [mug] = await know('=MUG', 'CUP')
  const east = (await admin.post('/api/inventory/locations', { code: 'east', name: 'East' })).json.id
  await admin.put(`/api/inventory/levels/${mug}`, { on_hand: 4, location: 'east' })
  const exported = (await admin.get('/api/inventory/export')).text
  expect((await send(exported)).json).toMatchObject({
    rows: 2,
    failed: 0,
    levels: { counted: 1, short: 0, stale: 0, repeated: 0 },
    items: { changed: 0 },
    ignored_columns: ['reserved', 'available'],
    errors: []
  })
  expect(await movements()).toHaveLength(1)

  const edited = exported
    .replace("'=MUG,east,4,0,true,none,,,", "'=MUG,east,9,1,true,limit,5,2,")
    .replace('CUP,,,,false,', 'CUP,,7,,true,')
  expect((await send(edited, '?reason=Stocktaking')).json).toMatchObject({
    levels: { counted: 2, repeated: 0 },
    items: { changed: 2 }
  })
  const counted = [
    { sku: '=MUG', code: 'east', on_hand: 9, safety: 1 },
    { sku: 'CUP', code: 'main', on_hand: 7, safety: 0 }
  ]
  expect(await levels()).toEqual(counted)
  expect(
    await sql(
      'select sku, tracked, backorder, backorder_limit, low_threshold from inventory.items order by sku'
    )
  ).toEqual([
    { sku: '=MUG', tracked: true, backorder: 'limit', backorder_limit: 5, low_threshold: 2 },
    { sku: 'CUP', tracked: true, backorder: 'none', backorder_limit: null, low_threshold: null }
  ])
  expect((await movements()).slice(1)).toMatchObject([
    { kind: 'count', reason: 'Stocktaking', actor: expect.stringMatching(/^[\da-f-]{36}$/) },
    { kind: 'count', reason: 'Stocktaking' }
  ])

  const lines = [{ variantId: mug, quantity: 3 }]
  const ship = { id: newId(), kind: 'ship', owner: newId(), lines, locationId: east } as const
  await db.transaction(tx => inventory.post(tx, ship))
  const again = await Promise.all([send(edited, '?reason=Stocktaking'), send(edited, '?reason=Stocktaking')])
  for (const { json } of again)
    expect(json).toMatchObject({ levels: { counted: 0, repeated: 2 }, items: { changed: 0 } })
  await expect.poll(levels).toMatchObject([{ on_hand: 6 }, { on_hand: 7 }])
  expect((await send(edited, '?reason=Once+more')).json.levels).toMatchObject({ counted: 2, repeated: 0 })
  expect(await levels()).toEqual(counted)
})

test('a stock file of Shopify counts by SKU and location name', async () => {
  const { admin, know, send, levels } = await useInventory()
  await know('M-1', 'C-1')
  await admin.post('/api/inventory/locations', { code: 'east', name: 'East Side' })
  const file = fileOf(
    [
      'Handle',
      'Title',
      'Option1 Name',
      'Option1 Value',
      'SKU',
      'HS Code',
      'COO',
      'Location',
      'Bin name',
      'Incoming (not editable)',
      'Unavailable (not editable)',
      'Committed (not editable)',
      'Available (not editable)',
      'On hand (current)',
      'On hand (new)'
    ],
    ['mug', 'Mug', 'Title', 'Default Title', 'M-1', '', '', 'East Side', '', 0, 0, 0, 3, 3, 8],
    ['mug', 'Mug', 'Title', 'Default Title', 'M-1', '', '', 'Main', '', 0, 0, 0, 5, 5, ''],
    ['cup', 'Cup', 'Title', 'Default Title', 'C-1', '', '', 'Main', '', 0, 0, 0, 2, 2, -2],
    [
      'cup',
      'Cup',
      'Title',
      'Default Title',
      'C-1',
      '',
      '',
      'East Side',
      '',
      'not stocked',
      'not stocked',
      'not stocked',
      'not stocked',
      'not stocked',
      'not stocked'
    ]
  )
  const { status, json } = await send(file)
  expect([status, json]).toMatchObject([
    200,
    { rows: 4, failed: 0, levels: { counted: 2 }, items: { changed: 2 } }
  ])
  expect(await levels()).toEqual([
    { sku: 'C-1', code: 'main', on_hand: -2, safety: 0 },
    { sku: 'M-1', code: 'east', on_hand: 8, safety: 0 }
  ])
})

test('a wrong row of a stock file is reported with its line; the others are imported, or none in all_or_nothing', async () => {
  const { admin, know, send, levels, sql } = await useInventory()
  const [mug, , owed] = await know('MUG', 'CUP', 'OWED')
  await know('CUP')
  await admin.post('/api/inventory/locations', { code: 'far', name: 'main ' })
  const file = fileOf(
    ['variant_id', 'sku', 'location', 'on_hand', 'backorder', 'backorder_limit'],
    [mug, 'MUG', 'main', 5, '', ''],
    [newId(), '', '', 1, '', ''],
    ['', 'NO-SUCH', '', 1, '', ''],
    ['', 'CUP', '', 1, '', ''],
    [mug, 'CUP', 'far', 1, '', ''],
    [mug, 'MUG', 'nowhere', 1, '', ''],
    [mug, 'MUG', 'far', 'many', '', ''],
    ['', 'OWED', 'far', 1, 'any', 3],
    ['', 'OWED', 'far', 2, 'limit', ''],
    [mug, 'MUG', 'MAIN', 6, '', '']
  )
  const errors = [
    [3, 'variant_id', 'The inventory has no such variant.'],
    [4, 'sku', 'The inventory has no such variant.'],
    [5, 'sku', 'Several variants have this SKU. Set variant_id.'],
    [6, 'sku', 'The variant with this id has another SKU.'],
    [7, 'location', 'There is no location with this code or name.'],
    [8, 'on_hand', 'This is not a whole number from -1000000000 to 1000000000.'],
    [9, 'backorder_limit', 'This requires backorder "limit".'],
    [10, undefined, 'Earlier rows set another stock policy for the variant.'],
    [11, undefined, 'Row 2 counts the same variant at the same location.']
  ]
  const all = await send(file, '?mode=all_or_nothing')
  expect([all.status, all.json.code]).toEqual([400, 'INVENTORY_IMPORT_FAILED'])
  const shown = ({ errors: list }: { errors: { row: number; column?: string; message: string }[] }) =>
    list.map(({ row, column, message }) => [row, column, message])
  expect(shown(all.json.report)).toEqual(errors)
  expect(all.json.report.levels.counted).toBe(0)
  expect(await levels()).toEqual([])
  expect(
    await sql('select from inventory.requests union all select from inventory.items where tracked')
  ).toEqual([])

  const some = await send(file)
  expect(some.status).toBe(200)
  expect(shown(some.json)).toEqual(errors)
  expect(some.json).toMatchObject({ rows: 10, failed: 9, levels: { counted: 1 }, errors_total: 9 })
  expect(await levels()).toEqual([{ sku: 'MUG', code: 'main', on_hand: 5, safety: 0 }])

  const mended = fileOf(['sku', 'on_hand'], ['MUG', 8], ['OWED', 2])
  const { json } = await send(mended, '?mode=all_or_nothing')
  expect(json).toMatchObject({ mode: 'all_or_nothing', failed: 0, levels: { counted: 2 } })
  expect((await admin.get(`/api/inventory/items/${owed}`)).json).toMatchObject({
    tracked: true,
    available: 2
  })
})

test('an untracked item stays untracked when its row in a stock file says so, and a stale file changes nothing', async () => {
  const { know, send, levels } = await useInventory()
  await know('A', 'B')
  const count = (onHand: number, version: number) =>
    send(
      fileOf(
        ['sku', 'on_hand', 'tracked', 'source_version'],
        ['A', onHand, '', version],
        ['B', 3, 'false', 1]
      )
    )
  expect((await count(5, 7)).json).toMatchObject({ failed: 0, levels: { counted: 1, stale: 0 } })
  expect((await count(9, 6)).json).toMatchObject({ failed: 0, levels: { counted: 0, stale: 1 } })
  expect(await levels()).toEqual([{ sku: 'A', code: 'main', on_hand: 5, safety: 0 }])
})

test('an interrupted stock import continues with the same file, and no row counts twice', async () => {
  const { know, send, movements, sql } = await useInventory()
  const skus = Array.from({ length: 450 }, (_, index) => `S${index}`)
  const ids = await know(...skus)
  const file = fileOf(['sku', 'on_hand'], ...skus.map((sku, index) => [sku, index + 1]))
  await sql(
    `create function cut() returns trigger language plpgsql as $$ begin
      if new.lines::text like '%${ids[300]}%' then raise exception 'cut off'; end if; return new; end $$`
  )
  await sql('create trigger cut before insert on inventory.requests for each row execute function cut()')
  expect((await send(file)).status).toBe(500)
  await sql('drop trigger cut on inventory.requests')
  expect((await send(file)).json).toMatchObject({
    rows: 450,
    failed: 0,
    levels: { counted: 250, repeated: 200 },
    items: { changed: 250 }
  })
  expect((await movements()).map(each => each.on_hand_after).sort((a, b) => Number(a) - Number(b))).toEqual(
    skus.map((_, index) => index + 1)
  )
})

test('an unreadable or too long stock file is rejected as a whole', async () => {
  const { send } = await useInventory()
  for (const [file, message] of [
    ['', 'The file is empty.'],
    ['sku;on_hand\nA;1', 'by commas'],
    ['sku,on_hand\n"A,1\n', 'cannot be read as CSV'],
    [`sku,on_hand\n${'A,1\n'.repeat(250_001)}`, 'the maximum is 250000']
  ] as const) {
    const { status, json } = await send(file)
    expect([status, json.code]).toEqual([400, 'INVENTORY_IMPORT_FAILED'])
    expect(json.report.errors[0].message).toContain(message)
  }
})

test('a stopping process reports the imported stock rows, and the same file continues from there', async () => {
  const shop = await useInventory()
  const skus = Array.from({ length: 450 }, (_, index) => `S${index}`)
  await shop.know(...skus)
  const file = fileOf(['sku', 'on_hand', 'tracked'], ...skus.map(sku => [sku, 3, 'true']))
  const { result } = await shop.record(
    () => shop.send(file),
    name => {
      if (name === 'inventory.update_items') shop.drain()
    }
  )
  const { status, json } = result
  expect([status, json.code, json.first_row_left]).toEqual([503, 'INVENTORY_IMPORT_INTERRUPTED', 202])
  expect(json.report).toMatchObject({ rows: 200, failed: 0, levels: { counted: 200 }, errors: [] })
  expect(await shop.levels()).toHaveLength(200)
  expect(shop.log.join('')).toContain('INVENTORY_IMPORT_INTERRUPTED')

  const all = await shop.send(file, '?mode=all_or_nothing')
  expect([all.status, all.json.first_row_left, all.json.report.rows]).toEqual([503, 2, 0])

  const restarted = await useShop({ modules: [inventoryModule], databaseUrl: shop.databaseUrl })
  const again = await restarted.as({ token: 'admin' }).post(IMPORT, file, CSV)
  expect(again.json).toMatchObject({ rows: 450, levels: { counted: 250, repeated: 200 } })
  expect(await shop.levels()).toHaveLength(450)
})
