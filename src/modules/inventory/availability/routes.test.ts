import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { fakeCatalog } from '../../catalog/fake.ts'
import { inventoryModule } from '../index.ts'

test('available quantities of stock are public, in the order of the request, and not cacheable', async () => {
  const shop = await useShop({ modules: [inventoryModule], instead: { catalog: fakeCatalog() } })
  const [counted, unknown] = [newId(), newId()]
  await shop.sql(
    `with item as (insert into inventory.items (id, tracked) values ($1, true))
    insert into inventory.levels (item_id, location_id, on_hand) select $1, id, 3 from inventory.locations`,
    [counted]
  )
  await shop.sql(`select pg_notify('cartwright', 'inventory all')`)
  const ask = (ids: readonly string[]) => shop.as(null).get(`/api/inventory/availability?variant_ids=${ids}`)
  await expect
    .poll(async () => (await ask([unknown, counted])).json)
    .toEqual({
      items: [
        { variant_id: unknown, available: null },
        { variant_id: counted, available: 3 }
      ]
    })
  expect((await ask([counted])).headers['cache-control']).toContain('no-store')
  expect((await ask(Array.from({ length: 100 }, newId))).status).toBe(200)
  for (const wrong of [[], ['x'], [counted, ''], [counted.toUpperCase()], Array.from({ length: 101 }, newId)])
    expect((await ask(wrong)).status, String(wrong).slice(0, 50)).toBe(400)
})
