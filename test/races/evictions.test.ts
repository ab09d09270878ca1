import { describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { useEvictions } from '../support/evictions.ts'
import { sent, TRANSFER } from '../support/orders.ts'
import { CARD } from '../support/paid-orders.ts'
import { shareShops } from '../support/shared-shops.ts'
import { useStock } from '../support/use-stock.ts'

shareShops()

/** `npm run faults:siege`: all; else a tenth. */
const SCALE = process.env.SIEGE === undefined ? 0.1 : 1
const UNPAID = 1_000 * SCALE
const ATTEMPTS = 500 * SCALE
const NETWORKS = 50
const STOCK = 800 * SCALE
const VERIFIED = 20 * SCALE
const UNITS = 4

const networkOf = (index: number) => `192.0.2.${1 + (index % NETWORKS)}`
const methodOf = (index: number) => ({
  provider: 'manual',
  method: ['bank_transfer', 'cash_on_delivery', 'on_account'][index % 3]
})
/** Ten at a time. */
async function each<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  for (let from = 0; from < count; from += 10)
    done.push(
      ...(await Promise.all(Array.from({ length: Math.min(10, count - from) }, (_, at) => work(from + at))))
    )
  return done
}

test(`${UNPAID} unpaid orders of ${NETWORKS} networks and ${ATTEMPTS} card payments that are never completed prevent no paying buyer from buying`, async () => {
  const unlimited = {
    CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000',
    CARTWRIGHT__ORDERS__UNPAID_STOCK__CARD_MINUTES: '10'
  }
  const shop = await useEvictions({ settings: unlimited })
  await shop.stock(shop.mug, STOCK)
  const verified = await each(VERIFIED, async () =>
    shop.made(await shop.verified().post('/api/orders', { ...sent(shop.mug, 3), payment: TRANSFER }))
  )
  const siege = await each(UNPAID, index => shop.asGuest(1, methodOf(index), networkOf(index)))
  await each(ATTEMPTS, index => shop.asGuest(1, CARD, networkOf(index)))
  const [left] = await shop.sql(
    `select sum(on_hand - reserved)::int as units from inventory.levels where item_id = $1`,
    [shop.mug]
  )
  expect(left?.units).toBe(0)
  // The attempts were begun some time ago.
  await shop.sql(`update orders.orders set created_at = created_at - interval '11 minutes'`)

  const evictable = STOCK - 3 * VERIFIED
  const winners = Math.floor(evictable / UNITS)
  const buyers = await each(winners + 10, index =>
    shop.asGuest(UNITS, CARD, `198.51.100.${1 + (index % 250)}`)
  )
  // More buyers order than there are units, and none of them has paid yet.
  const ids = buyers.map(shop.made)
  await each(ids.length, async index => shop.payCard(ids[index] as string))
  await expect
    .poll(async () => Promise.all(ids.map(shop.stateOf)), { timeout: 60_000 })
    .not.toContain('pending')
  await shop.settled()

  const orders = await shop.sql(
    `select state, count(*)::int as orders, sum(captured - refunded)::int as kept, bool_and((
       select coalesce(sum(quantity - fulfilled), 0) from inventory.reservations
       where owner = orders.id and state <> 'closed') = case when orders.state = 'placed' then ${UNITS} else 0 end) as is_right
     from orders.orders join payments.accounts on order_id = orders.id where orders.id = any ($1)
     group by state order by state`,
    [ids]
  )
  const total = Number(buyers[0]?.json.total)
  expect(orders).toEqual([
    { state: 'canceled', orders: 10, kept: 0, is_right: true },
    { state: 'placed', orders: winners, kept: winners * total, is_right: true }
  ])
  for (const id of verified) expect([await shop.stateOf(id), await shop.unitsOf(id)]).toEqual(['pending', 3])
  const deferred = siege.filter(({ status }) => status === 201).map(({ json }) => json.id)
  // Those that lost no units stay.
  await expect
    .poll(
      async () =>
        (await Promise.all(deferred.map(shop.stateOf))).filter(state => state !== 'canceled').length,
      { timeout: 60_000 }
    )
    .toBeLessThanOrEqual(evictable - winners * UNITS)
  await shop.proveStock()
}, 600_000)

test('stock taken for payments and stock reserved simultaneously in two processes never share a unit', async () => {
  const { stocks, itemId, sql, expectConsistentStock } = await useStock({ onHand: 40, processes: 2 })
  const lines = [{ variantId: itemId, quantity: 1 }]
  const owners = Array.from({ length: 40 }, newId)
  const stockOf = (index: number) => stocks[index % 2] as (typeof stocks)[number]
  for (const [index, owner] of owners.entries()) {
    const { buy, db, claim } = stockOf(index)
    await buy(owner, lines)
    await db.transaction(tx => claim(tx, owner, lines))
  }
  const takers = Array.from({ length: 40 }, newId)
  await sql('insert into inventory.contested (owner, item_id, quantity) select unnest($1::uuid[]), $2, 1', [
    takers,
    itemId
  ])
  const paying = owners
    .filter((_, index) => index % 2 === 0)
    .map(async (owner, index) => {
      const { db, confirm } = stockOf(index)
      return { owner, lacks: await db.transaction(tx => confirm(tx, owner)) }
    })
  const taking = takers.map((owner, index) => {
    const parts = [{ itemId, quantity: 1 }]
    // Each begins with another victim.
    const victims = [...owners.slice(index), ...owners.slice(0, index)].map(each => ({
      owner: each,
      keep: []
    }))
    return stockOf(index).request({ kind: 'take', id: newId(), owner, parts, victims })
  })
  const paid = await Promise.all(paying)
  const outcomes = (await Promise.all(taking)).flat()
  const took = outcomes.filter(({ kind }) => kind === 'took').length
  const kept = paid.filter(({ lacks }) => lacks.length === 0).map(({ owner }) => owner)
  const rows = await sql(
    `select owner, sum(quantity)::int as units from inventory.reservations where state = 'confirmed' group by owner`
  )
  const confirmed = new Map(rows.map(({ owner, units }) => [owner, units]))
  for (const owner of kept) expect(confirmed.get(owner)).toBe(1)
  expect(took + kept.length).toBe(rows.length)
  expect(took).toBe(40 - kept.length)
  const contested = await sql('select owner from inventory.contested where not owner = any ($1)', [
    takers.filter((_, index) => outcomes[index]?.kind !== 'took')
  ])
  expect(new Set(contested.map(({ owner }) => owner))).toEqual(
    new Set(owners.filter(owner => !kept.includes(owner)))
  )
  await expectConsistentStock()
})

test('an order that releases units while its request for units of unpaid orders waits takes only what it still needs', async () => {
  const { stocks, itemId, sql, expectConsistentStock } = await useStock({ onHand: 5 })
  const owner = newId()
  await sql('insert into inventory.contested (owner, item_id, quantity) values ($1, $2, 1)', [owner, itemId])
  const take = { kind: 'take', id: newId(), owner, parts: [{ itemId, quantity: 3 }], victims: [] } as const
  const [outcome] = (await stocks[0]?.request(take)) ?? []
  expect(outcome).toMatchObject({ kind: 'took' })
  expect(await sql('select quantity from inventory.reservations')).toEqual([{ quantity: 1 }])
  await expectConsistentStock()
})

describe("an order that gives up its units before other orders' units are taken for it", () => {
  async function useTakenOrder(quantity: number) {
    const stock = await useStock({ onHand: quantity })
    const { stocks, itemId, sql } = stock
    const [victim, taker] = [newId(), newId()]
    const { buy, db, claim, request } = stocks[0] as (typeof stocks)[number]
    const linesOf = (units: number) => [{ variantId: itemId, quantity: units }]
    await buy(victim, linesOf(quantity))
    await db.transaction(tx => claim(tx, victim, linesOf(quantity)))
    await sql('insert into inventory.contested (owner, item_id, quantity) values ($1, $2, $3)', [
      taker,
      itemId,
      quantity
    ])
    const partsOf = (units: number) => [{ itemId, quantity: units }]
    const take = (units: number) =>
      ({
        kind: 'take',
        id: newId(),
        owner: taker,
        parts: partsOf(units),
        victims: [{ owner: victim, keep: [] }]
      }) as const
    const give = (kind: 'release' | 'ship', units: number | null) =>
      ({
        kind,
        id: newId(),
        owner: victim,
        parts: units === null ? null : partsOf(units),
        locationId: null
      }) as const
    const contested = () => sql('select quantity from inventory.contested where owner = $1', [victim])
    return { ...stock, request, take, give, contested }
  }

  test.each(['in one batch', 'in two batches'])(
    'an order whose units were all released %s no longer takes units of unpaid orders',
    async how => {
      const { request, take, give, contested, expectConsistentStock } = await useTakenOrder(2)
      const requests = [take(2), give('release', null)]
      if (how === 'in one batch') await request(...requests)
      else for (const each of requests) await request(each)
      expect(await contested()).toEqual([])
      await expectConsistentStock()
    }
  )

  test.each(['release', 'ship'] as const)(
    'after a partial %s, an order takes only its remaining units from unpaid orders',
    async kind => {
      const { request, take, give, contested, expectConsistentStock } = await useTakenOrder(3)
      await request(take(3), give(kind, 1))
      expect(await contested()).toEqual([{ quantity: 2 }])
      await expectConsistentStock()
    }
  )

  test('an order whose reservation covers a partial release still takes the units that it lacks', async () => {
    const { request, take, give, contested, expectConsistentStock } = await useTakenOrder(3)
    await request(take(2), give('release', 1))
    expect(await contested()).toEqual([{ quantity: 2 }])
    await expectConsistentStock()
  })
})
