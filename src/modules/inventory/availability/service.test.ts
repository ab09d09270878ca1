import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { inventoryModule } from '../index.ts'
import { updateStockLevels } from '../writer/repository.ts'
import { deleteOldAvailabilityChanges, listVariantsWithChangedStock } from './repository.ts'
import { readAvailableQuantities } from './service.ts'

type Shop = Awaited<ReturnType<typeof useInventory>>
const useInventory = () => useShop({ modules: [inventoryModule] })

type Level = { on_hand: number; reserved?: number; safety?: number; location?: string }

async function item(shop: Shop, fields: Record<string, unknown>, ...levels: Level[]): Promise<string> {
  const id = newId()
  const { tracked = true, backorder = 'none', limit = null } = fields
  await shop.sql(
    'insert into inventory.items (id, tracked, backorder, backorder_limit) values ($1, $2, $3, $4)',
    [id, tracked, backorder, limit]
  )
  for (const { on_hand, reserved = 0, safety = 0, location = 'main' } of levels)
    await shop.sql(
      `insert into inventory.levels (item_id, location_id, on_hand, reserved, safety)
      select $1, id, $2, $3, $4 from inventory.locations where code = $5`,
      [id, on_hand, reserved, safety, location]
    )
  return id
}

const kit = async (shop: Shop, id: string, parts: Record<string, number>) => {
  for (const [part, quantity] of Object.entries(parts))
    await shop.sql('insert into inventory.components (variant_id, item_id, quantity) values ($1, $2, $3)', [
      id,
      part,
      quantity
    ])
  return id
}

test('the available quantity of an item follows from levels, locations, backorder rule and kit parts', async () => {
  const shop = await useInventory()
  await shop.sql(
    `insert into inventory.locations (id, code, name, priority, active)
    values (gen_random_uuid(), 'east', 'East', 2, true), (gen_random_uuid(), 'shut', 'Shut', 3, false)`
  )
  const [none, limit] = [{}, { backorder: 'limit', limit: 5 }]
  const main = await item(shop, none, { on_hand: 10, reserved: 3, safety: 2 })
  const two = await item(shop, none, { on_hand: 4, reserved: 9 }, { on_hand: 6, location: 'east' })
  const uncounted = await item(shop, { tracked: false }, { on_hand: 1 })
  const cases: [what: string, id: string, available: number | null][] = [
    ['what is on hand without what is reserved and what is kept back', main, 5],
    ['a location that owes some takes nothing from another', two, 6],
    [
      'a location that is not in use has nothing to sell',
      await item(shop, none, { on_hand: 9, location: 'shut' }),
      0
    ],
    ['nothing anywhere', await item(shop, none), 0],
    ['less than nothing is nothing', await item(shop, none, { on_hand: -4 }), 0],
    ['what may be owed comes on top', await item(shop, limit, { on_hand: 2 }), 7],
    [
      'what is owed already is part of what may be owed, over all locations once',
      await item(shop, limit, { on_hand: 1, reserved: 3 }, { on_hand: 0, reserved: 2, location: 'east' }),
      1
    ],
    ['more owed than may be is nothing', await item(shop, limit, { on_hand: 0, reserved: 8 }), 0],
    ['any number may be owed', await item(shop, { backorder: 'any' }, { on_hand: 0 }), null],
    ['no level', await item(shop, { backorder: 'any' }), 0],
    ['no active location', await item(shop, limit, { on_hand: 3, location: 'shut' }), 0],
    ['an untracked item', uncounted, null],
    ['an unknown item', newId(), null],
    [
      'a kit: limited by its scarcest part',
      await kit(shop, await item(shop, { tracked: false }), { [main]: 2, [two]: 1, [uncounted]: 1 }),
      2
    ],
    [
      'a kit of an untracked item',
      await kit(shop, await item(shop, { tracked: false }), { [uncounted]: 1 }),
      null
    ],
    [
      'as much as can be said',
      await item(shop, { backorder: 'limit', limit: 2_000_000_000 }, { on_hand: 2_000_000_000 }),
      2_147_483_647
    ]
  ]
  const found = await readAvailableQuantities(
    shop.db,
    cases.map(([, id]) => id)
  )
  expect(cases.map(([what], index) => [what, found[index]])).toEqual(
    cases.map(([what, , available]) => [what, available])
  )
})

test('a stock change is polled after its commit, once per poller, also of kits, and deleted later', async () => {
  const shop = await useInventory()
  const part = await item(shop, {}, { on_hand: 5 })
  const set = await item(shop, {})
  await kit(shop, set, { [part]: 2 })
  const other = await item(shop, {}, { on_hand: 5 })
  const [main] = await shop.sql("select id from inventory.locations where code = 'main'")
  const level = { reserved: [0], safety: [0], sourceVersions: [null], locationIds: [main?.id as string] }
  const changesSince = async (since: string | null) => {
    const answer = await shop.db.first(listVariantsWithChangedStock, { since })
    return { snapshot: answer?.snapshot ?? '', variantIds: answer?.variant_ids.toSorted() }
  }
  const first = await changesSince(null)
  expect(first.variantIds).toEqual([])
  const [written, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const changing = shop.db.transaction(async tx => {
    await tx.run(updateStockLevels, { ...level, itemIds: [part], onHand: [4], seqs: [1] })
    written.resolve()
    await committing.promise
  })
  await written.promise
  // It is under way, and a later one is done already.
  await shop.db.run(updateStockLevels, { ...level, itemIds: [other], onHand: [4], seqs: [1] })
  const second = await changesSince(first.snapshot)
  expect(second.variantIds).toEqual([other])
  committing.resolve()
  await changing
  const third = await changesSince(second.snapshot)
  expect(third.variantIds).toEqual([part, set].toSorted())
  expect((await changesSince(third.snapshot)).variantIds).toEqual([])
  expect((await changesSince(first.snapshot)).variantIds).toEqual([part, set, other].toSorted())

  await shop.sql(
    "update inventory.changes set at = now() - interval '601 seconds' where variant_ids[1] = $1",
    [other]
  )
  expect(await shop.db.run(deleteOldAvailabilityChanges, { keptSeconds: 600, limit: 10 })).toBe(1)
})
