import { expect, test } from 'vitest'
import { stockListener } from '../../../../test/support/stock-listener.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { type InventoryApi, inventoryModule } from '../index.ts'

test('a batch of stock writes emits events for items that crossed a threshold or are short', async () => {
  const { module, heard } = stockListener()
  const shop = await useShop({ modules: [inventoryModule, module] })
  const inventory = shop.apiOf(inventoryModule) as InventoryApi
  const [item_id, owner] = [newId(), newId()]
  const [place] = await shop.sql(
    `with item as (insert into inventory.items (id, tracked) values ($1, true)),
      request as (
        insert into inventory.requests (id, kind, lines)
        select gen_random_uuid(), 'count', jsonb_build_object('lines', jsonb_build_array(jsonb_build_object(
          'itemId', $1::uuid, 'locationId', id, 'onHand', 1, 'safety', null, 'sourceVersion', null)))
        from inventory.locations)
     select id from inventory.locations`,
    [item_id]
  )
  await expect.poll(() => inventory.availableIn(shop.db, [item_id])).toEqual([1])
  const lines = [{ variantId: item_id, quantity: 1 }]
  await inventory.reserve(owner, lines, 60)
  await shop.db.transaction(tx => inventory.claim(tx, owner, lines))
  // One that is not there is shipped all the same, and another one is still promised.
  await shop.db.transaction(tx => inventory.post(tx, { id: newId(), kind: 'ship', owner: newId(), lines }))
  await expect.poll(() => heard.length).toBe(3)
  const crossed = { item_id, variant_ids: [item_id] }
  expect(heard.filter(({ name }) => name === 'crossed').map(({ payload }) => payload)).toEqual([
    { ...crossed, available: 1, status: 'in' },
    { ...crossed, available: 0, status: 'out' }
  ])
  expect(heard.filter(({ name }) => name === 'short').map(({ payload }) => payload)).toEqual([
    { item_id, location_id: place?.id, on_hand: 0, reserved: 1, owners: [owner] }
  ])
})
