import { expect, test, vi } from 'vitest'
import { openShared, shareShops } from '../../../../test/support/shared-shops.ts'
import { emptyStockLedger } from '../../../../test/support/stock-ledger.ts'
import { stockListener } from '../../../../test/support/stock-listener.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { inventoryModule } from '../index.ts'

shareShops()

/** A shop with a module that subscribes to stock events. Without timers requests are not applied, and reservations do not expire. */
const openShop = (hasTimers: boolean) =>
  openShared(['stock shop', hasTimers], async onFinished => {
    const { module, statusesOf } = stockListener()
    if (!hasTimers) vi.useFakeTimers({ toFake: ['setInterval'] })
    const options = { modules: [inventoryModule, module] }
    const shop = await useShop(options, onFinished).finally(() => void vi.useRealTimers())
    if (!hasTimers) await shop.platform.timers.stop()
    return { ...shop, statusesOf }
  })

/** A consistent ledger of two levels: 20 on hand with 5 reserved, of which 1 is shipped, and 5 on hand without reservations. */
async function useLedger({ hasTimers = true } = {}) {
  const shop = await openShop(hasTimers)
  await emptyStockLedger(shop.sql)
  const [mug, cup, ann, bob] = [newId(), newId(), newId(), newId()]
  const main = (await shop.sql('select id from inventory.locations'))[0]?.id as string
  await shop.sql('insert into inventory.items (id, tracked) values ($1, true), ($2, true)', [mug, cup])
  await shop.sql(
    `insert into inventory.levels (item_id, location_id, on_hand, reserved, seq)
    values ($1, $3, 19, 4, 4), ($2, $3, 5, 0, 1)`,
    [mug, cup, main]
  )
  await shop.sql(
    `insert into inventory.movements
      (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after, reserved_after, operation)
    values ($1, $3, 1, 'count', 20, 0, 20, 0, gen_random_uuid()),
      ($1, $3, 2, 'reserve', 0, 3, 20, 3, gen_random_uuid()),
      ($1, $3, 3, 'reserve', 0, 2, 20, 5, gen_random_uuid()),
      ($1, $3, 4, 'ship', -1, -1, 19, 4, gen_random_uuid()),
      ($2, $3, 1, 'count', 5, 0, 5, 0, gen_random_uuid())`,
    [mug, cup, main]
  )
  await shop.sql(
    `insert into inventory.reservations
      (owner, item_id, location_id, quantity, fulfilled, state, expires_at, closed_at)
    values ($1, $3, $4, 3, 0, 'held', now() + interval '1 hour', null),
      ($2, $3, $4, 2, 1, 'confirmed', null, null),
      (gen_random_uuid(), $3, $4, 9, 0, 'closed', null, now())`,
    [ann, bob, mug, main]
  )
  const inventory = shop.apiOf(inventoryModule)
  if (inventory === undefined) throw new Error('the inventory is switched off')
  const reservations = () => shop.sql('select * from inventory.reservations order by owner, item_id')
  return { ...shop, inventory, check: inventory.check, main, mug, cup, ann, bob, reservations }
}
type Books = Awaited<ReturnType<typeof useLedger>>

test('a consistent stock ledger has no discrepancies', async () => {
  const { check } = await useLedger()
  expect(await check({ repair: true })).toEqual({ findings: [], total: 0, repaired: 0, left: [] })
})

const DAMAGE: [what: string, kinds: string[], (books: Books) => Promise<unknown>][] = [
  [
    'a movement that was lost in the middle',
    ['movement_missing'],
    ({ sql, mug }) => sql('delete from inventory.movements where item_id = $1 and seq = 2', [mug])
  ],
  [
    'several that were lost, the first among them',
    ['movement_missing'],
    ({ sql, mug }) => sql('delete from inventory.movements where item_id = $1 and seq < 3', [mug])
  ],
  [
    'the last movement lost',
    ['level_ahead'],
    ({ sql, mug }) => sql('delete from inventory.movements where item_id = $1 and seq = 4', [mug])
  ],
  [
    'all movements lost',
    ['level_ahead'],
    ({ sql, mug }) => sql('delete from inventory.movements where item_id = $1', [mug])
  ],
  [
    'a level that was not written',
    ['movement_beyond'],
    ({ sql, mug }) =>
      sql('update inventory.levels set on_hand = 20, reserved = 5, seq = 3 where item_id = $1', [mug])
  ],
  [
    'a movement that never happened',
    ['movement_beyond'],
    ({ sql, main, mug }) =>
      sql(
        `insert into inventory.movements
          (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after, reserved_after, operation)
        values ($1, $2, 5, 'ship', -1, -1, 18, 3, gen_random_uuid())`,
        [mug, main]
      )
  ],
  [
    'a level that was overwritten',
    ['level_differs'],
    ({ sql, mug }) => sql('update inventory.levels set on_hand = 25 where item_id = $1', [mug])
  ],
  [
    'a reservation that was deleted',
    ['reserved_differs'],
    ({ sql, bob }) => sql('delete from inventory.reservations where owner = $1', [bob])
  ],
  [
    'a reservation that the level does not count',
    ['reserved_differs'],
    ({ sql, main, cup }) =>
      sql(
        `insert into inventory.reservations (owner, item_id, location_id, quantity, state)
        values (gen_random_uuid(), $1, $2, 2, 'claimed')`,
        [cup, main]
      )
  ],
  [
    'a level that was deleted',
    ['level_missing'],
    ({ sql, mug }) => sql('delete from inventory.levels where item_id = $1', [mug])
  ],
  [
    'a movement that does not follow',
    ['movement_differs', 'movement_differs'],
    ({ sql, mug }) =>
      sql('update inventory.movements set on_hand_after = 21 where item_id = $1 and seq = 2', [mug])
  ],
  [
    'what is held for longer than it should be',
    ['reservation_overdue'],
    ({ sql, ann }) =>
      sql(`update inventory.reservations set expires_at = now() - interval '2 minutes' where owner = $1`, [
        ann
      ])
  ],
  [
    'a request that is not done',
    ['request_overdue'],
    ({ sql, bob }) =>
      sql(
        `insert into inventory.requests (id, kind, owner, lines, posted_at)
        values (gen_random_uuid(), 'release', $1, '[]', now() - interval '2 minutes')`,
        [bob]
      )
  ]
]
/** Nothing says which of its neighbours is right. */
const LEFT = ['movement_differs']

/** A ledger without a running writer. */
const useNeglectedBooks = () => useLedger({ hasTimers: false })

test.each(DAMAGE)(
  'the discrepancy "%s" of the stock ledger is found and repaired, and reservations stay',
  async (_what, kinds, plant) => {
    const books = await useNeglectedBooks()
    const { check, reservations } = books
    await plant(books)
    const before = await reservations()
    const { findings, total, repaired } = await check({ repair: false })
    expect(findings.map(({ kind }) => kind)).toEqual(kinds)
    expect([total, repaired]).toEqual([kinds.length, 0])

    const isMended = !kinds.some(kind => LEFT.includes(kind))
    expect(await check({ repair: true })).toMatchObject({ total, repaired: isMended ? total : 0 })
    expect((await check({ repair: false })).total).toBe(isMended ? 0 : total)
    if (!kinds.includes('reservation_overdue') && !kinds.includes('request_overdue'))
      expect(await reservations()).toEqual(before)
  }
)

test('a repair of the stock ledger publishes status changes and is visible immediately', async () => {
  const { as, check, inventory, sql, statusesOf, main, mug, cup } = await useLedger()
  // The shop learns that something is counted.
  await as({ token: 'admin' }).patch(`/api/inventory/items/${newId()}`, { tracked: true })
  await sql('update inventory.levels set on_hand = 2 where item_id = $1', [mug])
  await sql('update inventory.levels set on_hand = 9 where item_id = $1', [cup])
  expect(await inventory.available([mug, cup])).toEqual([0, 9])
  await check({ repair: true })
  expect(await inventory.available([mug, cup])).toEqual([15, 5])
  await expect.poll(() => statusesOf(mug)).toEqual(['in'])

  await sql(`update inventory.items set backorder = 'any' where id = $1`, [cup])
  await sql(
    `with gone as (delete from inventory.levels where item_id = $1)
    insert into inventory.reservations (owner, item_id, location_id, quantity, state)
    values (gen_random_uuid(), $1, $2, 2, 'claimed')`,
    [cup, main]
  )
  await check({ repair: true })
  await expect.poll(() => statusesOf(cup)).toEqual(['in'])
})

test.each(DAMAGE)(
  'a repair of the discrepancy "%s" of the stock ledger gives each changed level a higher number',
  async (_what, _kinds, plant) => {
    const books = await useNeglectedBooks()
    const levels = () =>
      books.sql(
        'select item_id, location_id, on_hand, reserved, seq::int from inventory.levels order by item_id, location_id'
      )
    await plant(books)
    const before = await levels()
    await books.check({ repair: true })
    const after = await levels()
    for (const { seq, ...level } of before) {
      const now = after.find(row => row.item_id === level.item_id && row.location_id === level.location_id)
      const { seq: newSeq, ...repaired } = now ?? {}
      if (JSON.stringify(repaired) !== JSON.stringify(level)) expect(newSeq).toBeGreaterThan(Number(seq))
    }
  }
)
