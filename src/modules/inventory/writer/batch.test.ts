import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { inventoryModule } from '../index.ts'
import { findOrdersOfStockShortfalls } from './batch.ts'

test('orders that stock levels cannot cover are found by one statement, the first 100 per level', async () => {
  const shop = await useShop({ modules: [inventoryModule] })
  const [mug, cup, bowl] = [newId(), newId(), newId()].sort() as [string, string, string]
  const [main] = await shop.sql('select id from inventory.locations')
  const locationId = main?.id as string
  const orders = await shop.sql(
    `insert into inventory.reservations (owner, item_id, location_id, quantity, state, closed_at)
    select gen_random_uuid(), item, $4::uuid, 1, state, case when state = 'closed' then now() end
    from (select $1::uuid, 'claimed' from generate_series(1, 120)
      union all values ($2::uuid, 'confirmed'), ($2, 'closed'), ($3, 'closed')) row (item, state)
    returning owner, item_id, state`,
    [mug, cup, bowl, locationId]
  )
  const ownersOf = (item: string) =>
    orders.filter(each => each.item_id === item && each.state !== 'closed').map(each => each.owner)
  const shortfalls = [mug, cup, bowl].map(itemId => ({ itemId, locationId }))
  const level = { itemId: cup, locationId, priority: 1, active: true, onHand: -1, reserved: 1 }
  const levels = [{ ...level, safety: 0, seq: 3, sourceVersion: null }]
  const { result: found, statements } = await shop.record(() =>
    shop.db.transaction(tx => findOrdersOfStockShortfalls(tx, { shortfalls, levels }))
  )
  expect(statements.filter(name => name === 'inventory.list_owners')).toHaveLength(1)
  expect(found).toEqual([
    { itemId: mug, locationId, onHand: 0, reserved: 0, owners: ownersOf(mug).sort().slice(0, 100) },
    { itemId: cup, locationId, onHand: -1, reserved: 1, owners: ownersOf(cup) },
    { itemId: bowl, locationId, onHand: 0, reserved: 0, owners: [] }
  ])
})
