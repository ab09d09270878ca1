import { expect, test } from 'vitest'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { emptyStockLedger, STOCK_FAULTS } from '../../../../test/support/stock-ledger.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { inventoryModule } from '../index.ts'
import { sumStockMovementsBefore } from './balances.ts'

shareShops()

const BEFORE = new Date('2016-01-01T00:00:00Z')
const [MUG, CUP, JAR] = ['1', '2', '3'].map(digit => `0193f000-0000-7000-8000-00000000000${digit}`) as [
  string,
  string,
  string
]
const signal = new AbortController().signal

/**
 * A shop with three levels. That of the mug has so many movements a month since 2015, of which 12 months are before 2016; that of the
 * cup has one old movement and that of the jar has none that is old.
 */
async function useLedger(perMonth = 1) {
  const shop = await useShop({ modules: [inventoryModule] })
  const { sql } = shop
  await emptyStockLedger(shop.sql)
  await sql('insert into inventory.items (id, tracked) select unnest($1::uuid[]), true', [[MUG, CUP, JAR]])
  await sql(
    `with planned as (
       select $1::uuid as item, n, timestamptz '2015-01-01Z' + (n - 1) / $4::int * interval '1 month' as at
       from generate_series(1, 14 * $4::int) n
       union all select $2::uuid, n, timestamptz '2015-06-01Z' + (n - 1) * interval '2 years' from generate_series(1, 2) n
       union all select $3::uuid, n, timestamptz '2016-01-01Z' from generate_series(1, 3) n
     )
     insert into inventory.movements (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after, reserved_after,
       operation, actor, at)
     select item, id, n, 'adjust', 3, 0, 3 * n, 0, gen_random_uuid(), gen_random_uuid(), at from planned, inventory.locations`,
    [MUG, CUP, JAR, perMonth]
  )
  await sql(
    `insert into inventory.levels (item_id, location_id, on_hand, seq)
     select item_id, location_id, max(on_hand_after), max(seq) from inventory.movements group by 1, 2`
  )
  const inventory = shop.apiOf(inventoryModule)
  if (inventory === undefined) throw new Error('there is no inventory')
  const faults = async () => [
    ...(await sql(STOCK_FAULTS)),
    ...(await inventory.check({ repair: false })).findings
  ]
  const movementsOf = (item: string) =>
    sql(
      `select seq::int, kind, on_hand_delta, on_hand_after, actor is not null as has_actor
       from inventory.movements where item_id = $1 order by seq`,
      [item]
    )
  const sum = (step?: { levels: number; movements: number }) =>
    sumStockMovementsBefore(shop.db, BEFORE, signal, step)
  return { ...shop, inventory, faults, movementsOf, sum }
}
const recent = (seq: number) => ({
  seq,
  kind: 'adjust',
  on_hand_delta: 3,
  on_hand_after: 3 * seq,
  has_actor: true
})

test('old stock movements become one balance a level, and the ledger still proves the levels', async () => {
  const { sum, movementsOf, faults, as } = await useLedger()
  const [cup, jar] = [await movementsOf(CUP), await movementsOf(JAR)]
  expect(await sum()).toBe(11)
  const balance = { seq: 12, kind: 'balance', on_hand_delta: 36, on_hand_after: 36, has_actor: false }
  expect(await movementsOf(MUG)).toEqual([balance, recent(13), recent(14)])
  expect([await movementsOf(CUP), await movementsOf(JAR)]).toEqual([cup, jar])
  expect(await faults()).toEqual([])
  expect(await sum()).toBe(0)

  const admin = as({ token: 'admin' })
  expect((await admin.put(`/api/inventory/levels/${MUG}`, { on_hand: 50 })).status).toBe(200)
  const { items } = (await admin.get(`/api/inventory/movements?variant_id=${MUG}`)).json
  expect(items.map(({ seq, kind }: { seq: number; kind: string }) => [seq, kind])).toEqual([
    [15, 'count'],
    [14, 'adjust'],
    [13, 'adjust'],
    [12, 'balance']
  ])
  expect(await faults()).toEqual([])
})

test.each([
  ['is deleted', 'delete from inventory.movements where seq = 12'],
  [
    'has another amount',
    'update inventory.movements set on_hand_after = 35, on_hand_delta = 35 where seq = 12'
  ],
  ['is not the first', `update inventory.movements set seq = 11 where seq = 13`]
])('a balance that %s is a discrepancy of the stock ledger', async (_what, damage) => {
  const { sum, sql, inventory } = await useLedger()
  await sum()
  await sql(damage)
  expect((await inventory.check({ repair: false })).total).toBeGreaterThan(0)
})

test('a level that lost more than 1,000 movements with its balance is repaired by one balance', async () => {
  const { sum, sql, inventory, movementsOf, faults } = await useLedger(100)
  await sum({ levels: 50, movements: 5_000 })
  await sql('delete from inventory.movements where seq = 1200')
  await inventory.check({ repair: true })
  expect((await movementsOf(MUG))[0]).toMatchObject({ seq: 1_200, kind: 'balance', on_hand_after: 3_600 })
  expect(await faults()).toEqual([])
})

test.each([
  ['are missing', 'delete from inventory.movements where seq = 5'],
  ['do not add up', 'update inventory.movements set on_hand_delta = 4 where seq = 5'],
  ['are beyond their level', 'update inventory.levels set seq = 11, on_hand = 33']
])('movements that %s are not summed', async (_what, damage) => {
  const { sum, sql, movementsOf } = await useLedger()
  await sql(damage)
  const before = await movementsOf(MUG)
  expect(await sum()).toBe(0)
  expect(await movementsOf(MUG)).toEqual(before)
})

test('movements are summed in steps, and after each step the ledger proves the levels', async () => {
  const { sql, faults, db, movementsOf } = await useLedger()
  const stopping = new AbortController()
  const step = { levels: 2, movements: 5 }
  const transaction: typeof db.transaction = async (work, options) => {
    const done = await db.transaction(work, options)
    stopping.abort()
    return done
  }
  await expect(sumStockMovementsBefore({ transaction }, BEFORE, stopping.signal, step)).rejects.toThrow()
  expect((await movementsOf(MUG))[0]).toMatchObject({ seq: 5, kind: 'balance', on_hand_after: 15 })
  expect(await faults()).toEqual([])
  expect(await sumStockMovementsBefore(db, BEFORE, signal, step)).toBe(7)
  expect((await movementsOf(MUG))[0]).toMatchObject({ seq: 12, kind: 'balance', on_hand_after: 36 })
  expect(await faults()).toEqual([])
  expect(await sql('select from inventory.movements')).toHaveLength(8)
})

test('two processes that sum movements beside sales sum each once', async () => {
  const { sum, inventory, db, faults, movementsOf } = await useLedger(20)
  const step = { levels: 1, movements: 7 }
  const sales = Array.from({ length: 10 }, () =>
    inventory.reserve(newId(), [{ variantId: MUG, quantity: 1 }], 60)
  )
  await Promise.all([sum(step), sum(step), sumStockMovementsBefore(db, BEFORE, signal, step), ...sales])
  expect((await movementsOf(MUG))[0]).toMatchObject({ seq: 240, kind: 'balance', on_hand_after: 720 })
  expect(await faults()).toEqual([])
})
