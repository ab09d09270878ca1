import { createHash } from 'node:crypto'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { PricingApi } from '../../src/modules/pricing/index.ts'
import type { Transaction } from '../../src/platform/postgres/database.ts'
import { statement } from '../../src/platform/postgres/statement.ts'
import { usePricing } from '../support/pricing.ts'
import { needsOwnShop, openShared, shareShops } from '../support/shared-shops.ts'

shareShops()

type Limits = { usesMax?: number; usesPerCustomer?: number; firstOrderOnly?: boolean }
type Redemptions = Parameters<PricingApi['serializedBy']>[1]
type Shop = Awaited<ReturnType<typeof usePricing>>
type Taker = { customer?: string; owner?: string; meanwhile?: (tx: Transaction) => Promise<void> }

const PROMOTIONS = '/api/admin/promotions'
const backendId = statement({
  name: 'test.backend_id',
  gives: { id: 'int4' },
  text: 'select pg_backend_pid() as id'
})

/** Another process on the database. It is shared like the database. */
const useOtherProcess = (databaseUrl: string, number: number): Promise<Shop> =>
  openShared(['other process', number, databaseUrl], onFinished =>
    usePricing({ databaseUrl, settings: PATIENT }, onFinished)
  )

/** Several processes that redeem on one database, by the module's port; `expectConsistentRedemptions` checks the counters. */
async function useRedemptions(processes = 1) {
  const first = await usePricing({ settings: PATIENT })
  const { sql, admin, databaseUrl } = first
  const others = await Promise.all(times(processes - 1, number => useOtherProcess(databaseUrl, number)))
  const shops = [first, ...others]
  const on = (number: number) => shops[number % processes] as Shop
  const made = async (path: string, body: object) => {
    const { status, json, text } = await admin.post(path, body)
    if (status !== 201) throw new Error(text)
    return json.id as string
  }

  return {
    sql,
    databaseUrl,
    promote: async ({ usesMax, usesPerCustomer, firstOrderOnly = false }: Limits = {}) =>
      made(PROMOTIONS, {
        name: 'P',
        class: 'order',
        effect: { type: 'percentage', percentage_ppm: 100_000 },
        uses_max: usesMax ?? null,
        uses_per_customer: usesPerCustomer ?? null,
        first_order_only: firstOrderOnly
      }),
    addCode: (promotionId: string, code: string, usesMax: number) =>
      made(`${PROMOTIONS}/${promotionId}/codes`, { code, uses_max: usesMax }),
    /** Returns `done` or the code of the error. Waits up to 30 s, because the machine can be busy. */
    take: (
      number: number,
      redemptions: Redemptions,
      { customer = newId(), owner = newId(), meanwhile }: Taker = {}
    ) => {
      const { pricing, db } = on(number)
      const work = async (tx: Parameters<PricingApi['redeem']>[0]) => {
        await pricing.redeem(tx, owner, customer)
        await meanwhile?.(tx)
      }
      return pricing
        .serializedBy(db, redemptions)
        .transaction(work, { deadlineAt: performance.now() + 30_000 })
        .then(() => 'done', codeOf)
    },
    release: (number: number, owner: string) => {
      const { pricing, db } = on(number)
      return db.transaction(tx => pricing.release(tx, owner))
    },
    usesLeftOf: async (id: string) => (await admin.get(`${PROMOTIONS}/${id}`)).json.uses_left as number,
    /** The counters of limited promotions and codes, customers and first orders equal their redemptions. */
    expectConsistentRedemptions: async () => {
      expect(
        await sql(`
          select 'limit' as book, id::text from pricing.usage_limits
          where uses_max is not null and taken <>
            (select count(*) from pricing.redemptions where promotion_id = usage_limits.id or code_id = usage_limits.id)
          union all select 'customer', customer from pricing.customer_uses where taken <>
            (select count(*) from pricing.redemptions r
             where r.promotion_id = customer_uses.promotion_id and r.customer = customer_uses.customer)
          union all select 'first order', customer from pricing.first_orders
          where not exists (select from pricing.redemptions r where r.owner = first_orders.owner)`)
      ).toEqual([])
    }
  }
}

const PATIENT = { CARTWRIGHT__DATABASE__POOL_WAIT_MS: '20000' }
const times = <T>(count: number, work: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => work(index))
const codeOf = (error: unknown) => (error as { code?: string }).code ?? String(error)
const countOf = (ends: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(ends, end => end)].map(([end, all]) => [end, all.length]))
const limited = (promotionId: string) => ({ promotionId, limited: 'promotion' }) as const
/** The customer key of a new guest. */
const guest = (name: string) => createHash('sha256').update(`${name}-${newId()}@example.com`).digest('hex')

test.each([1, 4])(
  'of 200 simultaneous redemptions of a promotion limited to 50 uses over %i processes, exactly 50 succeed',
  async processes => {
    const { promote, addCode, take, usesLeftOf, expectConsistentRedemptions } =
      await useRedemptions(processes)
    const fifty = `FIFTY-OF-${processes}`
    const [promotion, coded] = [await promote({ usesMax: 50 }), await promote()]
    await addCode(coded, fifty, 50)
    const code = { promotionId: coded, code: fifty, limited: 'code' } as const
    for (const redemption of [limited(promotion), code]) {
      const ends = await Promise.all(times(200, number => take(number, [redemption])))
      expect(countOf(ends)).toEqual({ done: 50, PRICING_USED_UP: 150 })
    }
    expect(await usesLeftOf(promotion)).toBe(0)
    await expectConsistentRedemptions()
  },
  60_000
)

test('redemptions that do not pass the limit of their promotion never exceed it', async () => {
  const { promote, take, expectConsistentRedemptions } = await useRedemptions(2)
  const promotionId = await promote({ usesMax: 20 })
  const ends = await Promise.all(times(80, number => take(number, [{ promotionId }])))
  expect(countOf(ends)).toEqual({ done: 20, PRICING_USED_UP: 60 })
  await expectConsistentRedemptions()
})

test('promotion uses released during concurrent redemptions are redeemed up to the limit and never beyond', async () => {
  const { promote, take, release, usesLeftOf, expectConsistentRedemptions } = await useRedemptions(4)
  const promotionId = await promote({ usesMax: 50 })
  const owners = times(50, newId)
  await Promise.all(owners.map((owner, number) => take(number, [limited(promotionId)], { owner })))
  expect(await usesLeftOf(promotionId)).toBe(0)
  const given = owners.slice(0, 20)
  const [ends] = await Promise.all([
    Promise.all(times(60, number => take(number, [limited(promotionId)]))),
    // Each is canceled twice, as a retry does.
    Promise.all([...given, ...given].map((owner, number) => release(number + 1, owner)))
  ])
  const { done = 0 } = countOf(ends)
  expect(await usesLeftOf(promotionId)).toBe(20 - done)
  const late = await Promise.all(times(30, number => take(number, [limited(promotionId)])))
  expect(countOf(late).done ?? 0).toBe(20 - done)
  await expectConsistentRedemptions()
})

test.each([1, 4])(
  'a customer or guest redeems a promotion up to the limit per customer, from %i processes',
  async processes => {
    const { promote, take, expectConsistentRedemptions } = await useRedemptions(processes)
    const promotion = await promote({ usesPerCustomer: 3, usesMax: 1_000 })
    const customers = [newId(), guest('ada'), guest('bob')]
    const ends = await Promise.all(
      times(60, number => take(number, [limited(promotion)], { customer: customers[number % 3] as string }))
    )
    expect(countOf(ends)).toEqual({ done: 9, PRICING_CUSTOMER_LIMIT: 51 })
    await expectConsistentRedemptions()
  },
  60_000
)

test.each([1, 4])(
  "only one of a customer's 40 simultaneous orders is the first order, from %i processes",
  async processes => {
    const { promote, take, release, expectConsistentRedemptions } = await useRedemptions(processes)
    const both = [await promote({ firstOrderOnly: true }), await promote({ firstOrderOnly: true })]
    const redemptions = both.map(promotionId => ({ promotionId }))
    for (const customer of [newId(), guest('ada')]) {
      const owners = times(40, newId)
      const ends = await Promise.all(
        owners.map((owner, number) => take(number, redemptions, { customer, owner }))
      )
      expect(countOf(ends)).toEqual({ done: 1, PRICING_FIRST_ORDER_TAKEN: 39 })
      await expectConsistentRedemptions()
      await release(0, owners[ends.indexOf('done')] as string)
      expect(await take(0, redemptions, { customer })).toBe('done')
      await expectConsistentRedemptions()
    }
  },
  60_000
)

test('an order that repeats a redemption uses the promotion once, and a released use can be redeemed again', async () => {
  const { promote, addCode, take, release, usesLeftOf, expectConsistentRedemptions } = await useRedemptions(2)
  const promotionId = await promote({ usesMax: 1, usesPerCustomer: 1 })
  await addCode(promotionId, 'ONCE', 1)
  const redemptions = [{ ...limited(promotionId), code: 'ONCE' }]
  const [customer, owner] = [newId(), newId()]
  for (let round = 0; round < 5; round += 1) {
    const ends = await Promise.all(times(8, number => take(number, redemptions, { customer, owner })))
    expect(countOf(ends)).toEqual({ done: 8 })
    expect(await take(round, redemptions)).toBe('PRICING_USED_UP')
    await Promise.all(times(4, number => release(number, owner)))
    expect(await usesLeftOf(promotionId)).toBe(1)
  }
  await expectConsistentRedemptions()
})

test('redemptions of promotions in any order never deadlock', async () => {
  const { promote, take, release, expectConsistentRedemptions } = await useRedemptions(4)
  const ids: string[] = []
  while (ids.length < 6) ids.push(await promote({ usesMax: 100 }))
  const ends = await Promise.all(
    times(120, async number => {
      const mine = times(4, index => ids[(number * 5 + index * (1 + (number % 5))) % 6] as string)
      const owner = newId()
      // A redemption that declares its limit waits in a queue, and any other waits for the row lock.
      const redemptions = [...new Set(mine)].map(promotionId =>
        number % 2 === 0 ? limited(promotionId) : { promotionId }
      )
      const end = await take(number, redemptions, { owner })
      if (number % 3 === 0) await release(number + 1, owner)
      return end
    })
  )
  expect(Object.keys(countOf(ends)).filter(end => end !== 'done' && end !== 'PRICING_USED_UP')).toEqual([])
  await expectConsistentRedemptions()
})

test('a connection that dies before or during the commit of a redemption loses and repeats no use of the promotion', async () => {
  // It ends connections.
  needsOwnShop()
  const { promote, take, release, usesLeftOf, expectConsistentRedemptions, databaseUrl } =
    await useRedemptions(2)
  const promotion = await promote({ usesMax: 20, usesPerCustomer: 1 })
  const killer = new pg.Client({ connectionString: databaseUrl })
  await killer.connect()
  onTestFinished(() => killer.end())
  let kills = 0
  const kill = async (tx: Transaction) => {
    const { id } = (await tx.first(backendId)) ?? {}
    kills += 1
    return killer.query('select pg_terminate_backend($1)', [id])
  }
  /** Retries as a client does, until the outcome is known. */
  const takeSurely = async (number: number, taker: Taker) => {
    const deaths = [
      undefined,
      async (tx: Transaction) => void (await kill(tx)),
      // The kill runs during the commit.
      async (tx: Transaction) => void kill(tx).catch(() => {})
    ]
    for (let attempt = 0; ; attempt += 1) {
      const meanwhile = attempt < 2 ? deaths[number % 3] : undefined
      const end = await take(number, [limited(promotion)], { ...taker, ...(meanwhile && { meanwhile }) })
      if (end === 'done' || end.startsWith('PRICING_')) return end
    }
  }
  const takers = times(60, () => ({ owner: newId(), customer: newId() }))
  for (let round = 0; round < 3; round += 1) {
    const ends = await Promise.all(takers.map((taker, number) => takeSurely(number, taker)))
    expect(countOf(ends)).toEqual({ done: 20, PRICING_USED_UP: 40 })
    expect(await usesLeftOf(promotion)).toBe(0)
    await expectConsistentRedemptions()
    await Promise.all(takers.map(({ owner }, number) => release(number, owner)))
    expect(await usesLeftOf(promotion)).toBe(20)
  }
  expect(kills).toBeGreaterThan(40)
})

test('a transaction that is rolled back redeems no promotion', async () => {
  const { promote, take, usesLeftOf, expectConsistentRedemptions } = await useRedemptions()
  const promotion = await promote({ usesMax: 2, firstOrderOnly: true })
  const kept = newId()
  expect(await take(0, [limited(promotion)], { owner: kept })).toBe('done')
  const meanwhile = () => Promise.reject(new Error('the order was refused'))
  expect(await take(0, [limited(promotion)], { meanwhile })).toContain('refused')
  expect(await usesLeftOf(promotion)).toBe(1)
  await expectConsistentRedemptions()
})

test('a redemption of a used-up or missing promotion fails and writes nothing', async () => {
  const { promote, take, sql } = await useRedemptions()
  const promotion = await promote({ usesMax: 1 })
  await take(0, [limited(promotion)])
  expect(await take(0, [limited(promotion)], { customer: 'late' })).toBe('PRICING_USED_UP')
  expect(await sql(`select from pricing.redemptions where customer = 'late'`)).toEqual([])
  expect(await take(0, [limited(newId())])).toBe('PRICING_PROMOTION_GONE')
})
