import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { Redemption } from '../../src/modules/pricing/quote/promotions.ts'
import { redeem, release } from '../../src/modules/pricing/redemptions/doors.ts'
import { type Database, openDatabase } from '../../src/platform/postgres/database.ts'
import { createTestDatabase, testDatabaseOptions } from '../support/database.ts'

type Limits = { usesMax?: number; usesPerCustomer?: number; firstOrderOnly?: boolean }

/** Several processes that redeem on one database; its books are proved at the end of each test. */
async function useRedemptions(processes = 1) {
  const created = await createTestDatabase()
  const client = new pg.Client({ connectionString: created.url })
  await client.connect()
  const open = () => openDatabase({ ...testDatabaseOptions(created.url), poolWaitMs: 20_000 })
  const databases = Array.from({ length: processes }, open)
  onTestFinished(async () => {
    await Promise.all(databases.map(db => db.close()))
    await client.end()
    await created.drop()
  })
  const sql = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows
  const budget = (id: string, usesMax?: number) =>
    sql('insert into pricing.budgets (id, uses_max) values ($1, $2)', [id, usesMax])

  return {
    sql,
    db: databases[0] as Database,
    on: (number: number) => databases[number % processes] as Database,
    promote: async ({ usesMax, usesPerCustomer, firstOrderOnly = false }: Limits = {}) => {
      const id = newId()
      await sql(
        `insert into pricing.promotions (id, name, class, priority, active, needs_code, minimum_quantity,
          first_order_only, effect, combines, uses_per_customer)
        values ($1, 'P', 'order', 0, true, false, 0, $2, '{"type":"percentage"}', '{}', $3)`,
        [id, firstOrderOnly, usesPerCustomer]
      )
      await budget(id, usesMax)
      return id
    },
    addCode: async (promotionId: string, code: string, usesMax?: number) => {
      const id = newId()
      await sql('insert into pricing.codes (id, promotion_id, code) values ($1, $2, $3)', [
        id,
        promotionId,
        code
      ])
      await budget(id, usesMax)
    },
    takenOf: async (id: string) =>
      (await sql('select taken from pricing.budgets where id = $1', [id]))[0]?.taken as number,
    /** What is counted is what there is: of promotions and codes that are limited, of customers, of first orders. */
    proveBooks: async () => {
      expect(
        await sql(`
          select 'budget' as book, id::text from pricing.budgets
          where uses_max is not null and taken <>
            (select count(*) from pricing.redemptions where promotion_id = budgets.id or code_id = budgets.id)
          union all select 'customer', customer from pricing.customer_uses where taken <>
            (select count(*) from pricing.redemptions r
             where r.promotion_id = customer_uses.promotion_id and r.customer = customer_uses.customer)
          union all select 'first order', customer from pricing.first_orders
          where not exists (select from pricing.redemptions r where r.owner = first_orders.owner)`)
      ).toEqual([])
    }
  }
}

const times = <T>(count: number, work: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => work(index))
const codeOf = (error: unknown) => (error as { code?: string }).code ?? String(error)
/** Waits for its turn as long as it takes: a busy machine is no reason to refuse. */
const take = (db: Database, redemptions: Redemption[], customer: string = newId(), owner = newId()) =>
  db
    .transaction(tx => redeem(tx, owner, redemptions, customer), { deadlineAt: performance.now() + 30_000 })
    .then(() => 'done', codeOf)
const countOf = (ends: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(ends, end => end)].map(([end, all]) => [end, all.length]))

test.each([1, 4])(
  'of 200 who want one of 50 uses at once, over %i processes, 50 get it',
  async processes => {
    const { promote, addCode, on, takenOf, proveBooks } = await useRedemptions(processes)
    const [limited, coded] = [await promote({ usesMax: 50 }), await promote()]
    await addCode(coded, 'FIFTY', 50)
    for (const redemption of [{ promotionId: limited }, { promotionId: coded, code: 'FIFTY' }]) {
      const { promotionId } = redemption
      const ends = await Promise.all(times(200, number => take(on(number).inTurn(promotionId), [redemption])))
      expect(countOf(ends)).toEqual({ done: 50, PRICING_USED_UP: 150 })
    }
    expect(await takenOf(limited)).toBe(50)
    await proveBooks()
  },
  60_000
)

test.each([1, 4])(
  'one customer uses a promotion as often as they may, from %i processes',
  async processes => {
    const { promote, on, proveBooks } = await useRedemptions(processes)
    const promotionId = await promote({ usesPerCustomer: 3, usesMax: 1_000 })
    const [ada, bob] = [newId(), newId()]
    const ends = await Promise.all(
      times(60, number => take(on(number), [{ promotionId }], number % 2 === 0 ? ada : bob))
    )
    expect(countOf(ends)).toEqual({ done: 6, PRICING_CUSTOMER_LIMIT: 54 })
    await proveBooks()
  },
  60_000
)

test.each([1, 4])(
  'of orders at once one is the first, from %i processes',
  async processes => {
    const { promote, on, db, proveBooks } = await useRedemptions(processes)
    const [welcome, gift] = [await promote({ firstOrderOnly: true }), await promote({ firstOrderOnly: true })]
    const both = [{ promotionId: welcome }, { promotionId: gift }]
    const ada = newId()
    const owners = times(40, newId)
    const ends = await Promise.all(owners.map((owner, number) => take(on(number), both, ada, owner)))
    expect(countOf(ends)).toEqual({ done: 1, PRICING_FIRST_ORDER_TAKEN: 39 })
    await proveBooks()
    const first = owners[ends.indexOf('done')] as string
    await db.transaction(tx => release(tx, first))
    expect(await take(db, both, ada)).toBe('done')
    await proveBooks()
  },
  60_000
)

test('what an owner takes again is taken once, and what is given back can be taken again', async () => {
  const { promote, addCode, on, takenOf, proveBooks } = await useRedemptions(2)
  const promotionId = await promote({ usesMax: 1, usesPerCustomer: 1 })
  await addCode(promotionId, 'ONCE', 1)
  const redemptions = [{ promotionId, code: 'ONCE' }]
  const [ada, owner] = [newId(), newId()]
  for (let round = 0; round < 5; round += 1) {
    const ends = await Promise.all(times(8, number => take(on(number), redemptions, ada, owner)))
    expect(countOf(ends)).toEqual({ done: 8 })
    expect(await take(on(round), redemptions)).toBe('PRICING_USED_UP')
    await Promise.all(times(4, number => on(number).transaction(tx => release(tx, owner))))
    expect(await takenOf(promotionId)).toBe(0)
  }
  await proveBooks()
}, 60_000)

test('promotions that are taken in any order hold up nobody for ever', async () => {
  const { promote, on, proveBooks } = await useRedemptions(4)
  const ids: string[] = []
  while (ids.length < 6) ids.push(await promote({ usesMax: 100 }))
  const ends = await Promise.all(
    times(120, async number => {
      const mine = ids.toSorted(() => Math.random() - 0.5).slice(0, 4)
      const owner = newId()
      const end = await take(
        on(number),
        mine.map(promotionId => ({ promotionId })),
        newId(),
        owner
      )
      if (number % 3 === 0) await on(number + 1).transaction(tx => release(tx, owner))
      return end
    })
  )
  expect(Object.keys(countOf(ends)).filter(end => end !== 'done' && end !== 'PRICING_USED_UP')).toEqual([])
  await proveBooks()
}, 60_000)

test('a transaction that is rolled back takes and gives back nothing', async () => {
  const { promote, db, takenOf, proveBooks } = await useRedemptions()
  const promotionId = await promote({ usesMax: 2, firstOrderOnly: true })
  const [kept, refused] = [newId(), newId()]
  expect(await take(db, [{ promotionId }], 'ada', kept)).toBe('done')
  const failing = (work: Parameters<Database['transaction']>[0]) =>
    db.transaction(async tx => {
      await work(tx)
      throw new Error('the order was refused')
    })
  await expect(failing(tx => redeem(tx, refused, [{ promotionId }], 'bob'))).rejects.toThrow('refused')
  await expect(failing(tx => release(tx, kept))).rejects.toThrow('refused')
  expect(await takenOf(promotionId)).toBe(1)
  await proveBooks()
})

test('what is used up keeps the rest of its transaction from happening', async () => {
  const { promote, db, sql } = await useRedemptions()
  const promotionId = await promote({ usesMax: 1 })
  await take(db, [{ promotionId }])
  expect(await take(db, [{ promotionId }], 'late')).toBe('PRICING_USED_UP')
  expect(await sql(`select from pricing.redemptions where customer = 'late'`)).toEqual([])
  expect(await take(db, [{ promotionId: newId() }])).toBe('PRICING_PROMOTION_GONE')
})
