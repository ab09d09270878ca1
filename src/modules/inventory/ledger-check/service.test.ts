import { expect, onTestFinished, test, vi } from 'vitest'
import { stockListener } from '../../../../test/support/stock-listener.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { inventoryModule } from '../index.ts'

const MUG = newId()
const CUP = newId()
const [ANN, BOB] = [newId(), newId()]

/** A consistent ledger of two levels: 20 on hand with 5 reserved, of which 1 is shipped, and 5 on hand without reservations. */
async function useLedger() {
  const { module, statusesOf } = stockListener()
  const shop = await useShop({ modules: [inventoryModule, module] })
  const main = (await shop.sql('select id from inventory.locations'))[0]?.id as string
  await shop.sql('insert into inventory.items (id, tracked) values ($1, true), ($2, true)', [MUG, CUP])
  await shop.sql(
    `insert into inventory.levels (item_id, location_id, on_hand, reserved, seq)
    values ($1, $3, 19, 4, 4), ($2, $3, 5, 0, 1)`,
    [MUG, CUP, main]
  )
  await shop.sql(
    `insert into inventory.movements
      (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after, reserved_after, operation)
    values ($1, $3, 1, 'count', 20, 0, 20, 0, gen_random_uuid()),
      ($1, $3, 2, 'reserve', 0, 3, 20, 3, gen_random_uuid()),
      ($1, $3, 3, 'reserve', 0, 2, 20, 5, gen_random_uuid()),
      ($1, $3, 4, 'ship', -1, -1, 19, 4, gen_random_uuid()),
      ($2, $3, 1, 'count', 5, 0, 5, 0, gen_random_uuid())`,
    [MUG, CUP, main]
  )
  await shop.sql(
    `insert into inventory.reservations
      (owner, item_id, location_id, quantity, fulfilled, state, expires_at, closed_at)
    values ($1, $3, $4, 3, 0, 'held', now() + interval '1 hour', null),
      ($2, $3, $4, 2, 1, 'confirmed', null, null),
      (gen_random_uuid(), $3, $4, 9, 0, 'closed', null, now())`,
    [ANN, BOB, MUG, main]
  )
  const inventory = shop.apiOf(inventoryModule)
  if (inventory === undefined) throw new Error('the inventory is switched off')
  const reservations = () => shop.sql('select * from inventory.reservations order by owner, item_id')
  return { ...shop, inventory, check: inventory.check, statusesOf, main, reservations }
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
    ({ sql }) => sql('delete from inventory.movements where item_id = $1 and seq = 2', [MUG])
  ],
  [
    'several that were lost, the first among them',
    ['movement_missing'],
    ({ sql }) => sql('delete from inventory.movements where item_id = $1 and seq < 3', [MUG])
  ],
  [
    'the last movement lost',
    ['level_ahead'],
    ({ sql }) => sql('delete from inventory.movements where item_id = $1 and seq = 4', [MUG])
  ],
  [
    'all movements lost',
    ['level_ahead'],
    ({ sql }) => sql('delete from inventory.movements where item_id = $1', [MUG])
  ],
  [
    'a level that was not written',
    ['movement_beyond'],
    ({ sql }) =>
      sql('update inventory.levels set on_hand = 20, reserved = 5, seq = 3 where item_id = $1', [MUG])
  ],
  [
    'a movement that never happened',
    ['movement_beyond'],
    ({ sql, main }) =>
      sql(
        `insert into inventory.movements
          (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after, reserved_after, operation)
        values ($1, $2, 5, 'ship', -1, -1, 18, 3, gen_random_uuid())`,
        [MUG, main]
      )
  ],
  [
    'a level that was overwritten',
    ['level_differs'],
    ({ sql }) => sql('update inventory.levels set on_hand = 25 where item_id = $1', [MUG])
  ],
  [
    'a reservation that was deleted',
    ['reserved_differs'],
    ({ sql }) => sql('delete from inventory.reservations where owner = $1', [BOB])
  ],
  [
    'a reservation that the level does not count',
    ['reserved_differs'],
    ({ sql, main }) =>
      sql(
        `insert into inventory.reservations (owner, item_id, location_id, quantity, state)
        values (gen_random_uuid(), $1, $2, 2, 'claimed')`,
        [CUP, main]
      )
  ],
  [
    'a level that was deleted',
    ['level_missing'],
    ({ sql }) => sql('delete from inventory.levels where item_id = $1', [MUG])
  ],
  [
    'a movement that does not follow',
    ['movement_differs', 'movement_differs'],
    ({ sql }) =>
      sql('update inventory.movements set on_hand_after = 21 where item_id = $1 and seq = 2', [MUG])
  ],
  [
    'what is held for longer than it should be',
    ['reservation_overdue'],
    ({ sql }) =>
      sql(`update inventory.reservations set expires_at = now() - interval '2 minutes' where owner = $1`, [
        ANN
      ])
  ],
  [
    'a request that is not done',
    ['request_overdue'],
    ({ sql }) =>
      sql(
        `insert into inventory.requests (id, kind, owner, lines, posted_at)
        values (gen_random_uuid(), 'release', $1, '[]', now() - interval '2 minutes')`,
        [BOB]
      )
  ]
]
/** Nothing says which of its neighbours is right. */
const LEFT = ['movement_differs']

/** A ledger without a running writer: requests are not applied, and reservations do not expire. */
async function useNeglectedBooks() {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const books = await useLedger()
  await books.platform.timers.stop()
  return books
}

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
  const { as, check, inventory, sql, statusesOf, main } = await useLedger()
  // The shop learns that something is counted.
  await as({ token: 'admin' }).patch(`/api/inventory/items/${newId()}`, { tracked: true })
  await sql('update inventory.levels set on_hand = 2 where item_id = $1', [MUG])
  await sql('update inventory.levels set on_hand = 9 where item_id = $1', [CUP])
  expect(await inventory.available([MUG, CUP])).toEqual([0, 9])
  await check({ repair: true })
  expect(await inventory.available([MUG, CUP])).toEqual([15, 5])
  await expect.poll(() => statusesOf(MUG)).toEqual(['in'])

  await sql(`update inventory.items set backorder = 'any' where id = $1`, [CUP])
  await sql(
    `with gone as (delete from inventory.levels where item_id = $1)
    insert into inventory.reservations (owner, item_id, location_id, quantity, state)
    values (gen_random_uuid(), $1, $2, 2, 'claimed')`,
    [CUP, main]
  )
  await check({ repair: true })
  await expect.poll(() => statusesOf(CUP)).toEqual(['in'])
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
