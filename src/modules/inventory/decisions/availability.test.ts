import fc from 'fast-check'
import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { readAvailableQuantities } from '../availability/service.ts'
import { inventoryModule } from '../index.ts'
import { availableUnitsOfItem } from './availability.ts'
import type { InventoryItemStockPolicy, StockLevel } from './state.ts'

const figures = fc.record({
  onHand: fc.integer({ min: -3, max: 12 }),
  reserved: fc.nat({ max: 9 }),
  safety: fc.nat({ max: 4 })
})
const anyItem = fc.record({
  tracked: fc.integer({ min: 0, max: 4 }).map(number => number > 0),
  backorder: fc.constantFrom<InventoryItemStockPolicy['backorder']>('none', 'limit', 'any'),
  limit: fc.nat({ max: 8 }),
  levels: fc.tuple(fc.option(figures), fc.option(figures), fc.option(figures))
})
const anyKit = fc.uniqueArray(
  fc.record({ part: fc.nat({ max: 299 }), quantity: fc.integer({ min: 1, max: 4 }) }),
  {
    minLength: 1,
    maxLength: 3,
    selector: each => each.part
  }
)

test('the stock writer and the database compute the same available quantities', async () => {
  const shop = await useShop({ modules: [inventoryModule] })
  const locations = [newId(), newId(), newId()].map((id, index) => ({ id, active: index > 0 }))
  for (const { id, active } of locations)
    await shop.sql(
      'insert into inventory.locations (id, code, name, priority, active) values ($1, $2, $2, 2, $3)',
      [id, id, active]
    )
  const stock = fc.sample(anyItem, 300).map(({ tracked, backorder, limit, levels }) => {
    const id = newId()
    const backorderLimit = backorder === 'limit' ? limit : null
    const item: InventoryItemStockPolicy = { id, tracked, backorder, backorderLimit, lowThreshold: null }
    const rows = locations.flatMap(({ id: locationId, active }, index): StockLevel[] => {
      const given = levels[index]
      const place = { itemId: id, locationId, priority: 2, active, seq: 0, sourceVersion: null }
      return given ? [{ ...place, ...given }] : []
    })
    return { item, levels: rows, available: availableUnitsOfItem(item, rows) }
  })
  const kits = fc.sample(anyKit, 300).map(parts => ({
    id: newId(),
    parts: parts.map(({ part, quantity }) => ({ ...(stock[part] as (typeof stock)[number]), quantity }))
  }))

  const items = [
    ...stock.map(({ item }) => item),
    ...kits.map(({ id }) => ({ id, tracked: false, backorder: 'none', backorderLimit: null }))
  ]
  await shop.sql(
    `insert into inventory.items (id, tracked, backorder, backorder_limit)
    select * from jsonb_to_recordset($1) as item (id uuid, tracked bool, backorder text, "backorderLimit" int)`,
    [JSON.stringify(items)]
  )
  await shop.sql(
    `insert into inventory.levels (item_id, location_id, on_hand, reserved, safety)
    select * from jsonb_to_recordset($1)
      as level ("itemId" uuid, "locationId" uuid, "onHand" int, reserved int, safety int)`,
    [JSON.stringify(stock.flatMap(({ levels }) => levels))]
  )
  const components = kits.flatMap(({ id, parts }) =>
    parts.map(({ item, quantity }) => ({ id, part: item.id, quantity }))
  )
  await shop.sql(
    `insert into inventory.components (variant_id, item_id, quantity)
    select * from jsonb_to_recordset($1) as component (id uuid, part uuid, quantity int)`,
    [JSON.stringify(components)]
  )

  const expected = [
    ...stock.map(({ item, available }) => [item.id, available] as const),
    ...kits.map(({ id, parts }) => {
      const each = parts.map(({ available, quantity }) => Math.floor(available / quantity))
      return [id, Math.min(...each)] as const
    })
  ].map(([id, available]) => [id, Number.isFinite(available) ? available : null])
  const found = await readAvailableQuantities(
    shop.db,
    expected.map(([id]) => id as string)
  )
  expect(expected.map(([id], index) => [id, found[index]])).toEqual(expected)
})
