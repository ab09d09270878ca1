import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { readCsvRecords } from '../../../platform/csv/records.ts'
import { inventoryModule } from '../index.ts'

const read = async (text: string) => {
  const records = await Array.fromAsync(readCsvRecords(Readable.from([Buffer.from(text)])))
  return records.map(({ cells }) => cells)
}

test('the stock export has one row per variant and location, and no cell is executed as a formula', async () => {
  const shop = await useShop({ modules: [inventoryModule] })
  const [mug, cup, bare] = [newId(), newId(), newId()].sort() as [string, string, string]
  await shop.sql(
    `insert into inventory.locations (id, code, name, priority, active)
    values (gen_random_uuid(), 'shut', 'Shut', 2, false)`
  )
  await shop.sql(
    `insert into inventory.items (id, sku, tracked, backorder, backorder_limit, low_threshold)
    values ($1, '=1+1', true, 'none', null, 3), ($2, 'CUP, "blue"', true, 'limit', 4, null),
      ($3, null, false, 'none', null, null)`,
    [mug, cup, bare]
  )
  await shop.sql(
    `insert into inventory.levels (item_id, location_id, on_hand, reserved, safety)
    select $1::uuid, id, 9, 3, 2 from inventory.locations
    union all select $2::uuid, id, -2, 0, 0 from inventory.locations where active`,
    [mug, cup]
  )
  const { status, headers, text } = await shop.as({ token: 'admin' }).get('/api/inventory/export')
  expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
  expect(await read(text)).toEqual([
    'variant_id sku location on_hand safety tracked backorder backorder_limit low_threshold reserved available'.split(
      ' '
    ),
    [mug, "'=1+1", 'main', '9', '2', 'true', 'none', '', '3', '3', '4'],
    [mug, "'=1+1", 'shut', '9', '2', 'true', 'none', '', '3', '3', '0'],
    [cup, 'CUP, "blue"', 'main', '-2', '0', 'true', 'limit', '4', '', '0', '0'],
    [bare, '', '', '', '', 'false', 'none', '', '', '', '']
  ])
})

test('a large stock export is read in pages, each row once', async () => {
  const shop = await useShop({ modules: [inventoryModule] })
  await shop.sql(
    `insert into inventory.items (id, sku, tracked) select gen_random_uuid(), 'S' || n, true from generate_series(1, 1200) n`
  )
  await shop.sql(
    `insert into inventory.levels (item_id, location_id, on_hand)
    select items.id, locations.id, 1 from inventory.items, inventory.locations`
  )
  const { result, statements } = await shop.record(() =>
    shop.as({ token: 'admin' }).get('/api/inventory/export')
  )
  const [, ...rows] = await read(result.text)
  expect([rows.length, new Set(rows.map(([id]) => id)).size]).toEqual([1_200, 1_200])
  expect(statements.filter(name => name === 'inventory.list_exported')).toHaveLength(4)
})

test('a stock export that fails on its first row is an error response; an empty one has a header only', async () => {
  const shop = await useShop({ modules: [inventoryModule] })
  const read = () => shop.as({ token: 'admin' }).get('/api/inventory/export')
  await shop.sql('alter table inventory.items rename to lost')
  const refused = await read()
  expect([refused.status, refused.headers['content-type']]).toEqual([
    500,
    'application/problem+json; charset=utf-8'
  ])
  await shop.sql('alter table inventory.lost rename to items')
  expect((await read()).text).toBe(
    'variant_id,sku,location,on_hand,safety,tracked,backorder,backorder_limit,low_threshold,reserved,available\r\n'
  )
})
