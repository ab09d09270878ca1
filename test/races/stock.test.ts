import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { until } from '../faults/until.ts'
import { shareShops } from '../support/shared-shops.ts'
import { reservedOf } from '../support/stock-ledger.ts'
import { useStock } from '../support/use-stock.ts'

shareShops()

const times = <T>(count: number, work: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => work(index))
const codeOf = (error: unknown) => (error as { code?: string }).code ?? String(error)
/** Counts the outcomes: `done`, or the code of an error. */
async function tally(all: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const ends = await Promise.all(all.map(each => each.then(() => 'done', codeOf)))
  return Object.fromEntries([...Map.groupBy(ends, end => end)].map(([end, each]) => [end, each.length]))
}

test.each([1, 2, 4])(
  '64 buyers of 4 variants over %i processes leave an exact stock ledger',
  async processes => {
    const { stocks, itemIds, sql, expectConsistentStock } = await useStock({
      items: 4,
      onHand: 150,
      processes
    })
    const bought = new Map<string, number>()
    const buyer = async (number: number) => {
      const stock = stocks[number % processes] as (typeof stocks)[0]
      for (let basket = 0; basket < 12; basket += 1) {
        const owner = newId()
        const first = randomInt(4)
        const lines = times(1 + randomInt(3), at => ({
          variantId: itemIds[(first + at) % 4] as string,
          quantity: 1 + randomInt(2)
        }))
        const isBought = await stock.buy(owner, lines).then(
          () => true,
          error => expect(codeOf(error)).toBe('INVENTORY_SHORT')
        )
        if (isBought === true && basket % 4 === 3) await stock.release(owner)
        else if (isBought === true)
          for (const { variantId, quantity } of lines)
            bought.set(variantId, (bought.get(variantId) ?? 0) + quantity)
      }
    }
    await Promise.all(times(64, buyer))
    await expectConsistentStock()
    for (const itemId of itemIds) {
      const [level] = await sql('select reserved from inventory.levels where item_id = $1', [itemId])
      expect(level?.reserved).toBe(bought.get(itemId))
      expect(bought.get(itemId)).toBeLessThanOrEqual(150)
    }
  },
  60_000
)

test('of 10,000 buyers of 100 units, exactly 100 get one', async () => {
  const { stocks, itemId, client, expectConsistentStock } = await useStock({ onHand: 100, processes: 2 })
  const lines = [{ variantId: itemId, quantity: 1 }]
  const ends = await tally(
    times(10_000, number => (stocks[number % 2] as (typeof stocks)[0]).buy(newId(), lines))
  )
  expect(ends).toEqual({ done: 100, INVENTORY_SHORT: 9_900 })
  expect(await reservedOf(client, itemId)).toEqual({ held: 100 })
  await expectConsistentStock()
})

test('a purchase that is short of stock reports every short line with its available quantity, and reserves nothing', async () => {
  const { stock, itemIds, client, expectConsistentStock } = await useStock({ items: 3, onHand: 2 })
  const [a, b, c] = itemIds as [string, string, string]
  const lines = [a, b, c].map((variantId, index) => ({ variantId, quantity: 1 + 2 * index }))
  await expect(stock.buy(newId(), lines)).rejects.toMatchObject({
    code: 'INVENTORY_SHORT',
    details: {
      items: [
        { variant_id: b, requested: 3, available: 2 },
        { variant_id: c, requested: 5, available: 2 }
      ]
    }
  })
  expect(await reservedOf(client, a)).toEqual({})
  await expectConsistentStock()
})

test.each([1, 2, 4])(
  'a stock reservation that 16 callers in %i processes expire, claim and release ends as claimed or closed',
  async processes => {
    const { stocks, stock, itemId, client, sql, expectConsistentStock } = await useStock({
      onHand: 40,
      processes
    })
    const lines = [{ variantId: itemId, quantity: 1 }]
    let claims = 0
    for (let round = 0; round < 20; round += 1) {
      const owner = newId()
      await stock.buy(owner, lines, round % 2 === 0 ? 0 : 120)
      const sides = times(16, index => {
        // Each caller is the first in some rounds.
        const side = (index + 5 * round) % 16
        const { db, ...own } = stocks[side % processes] as (typeof stocks)[0]
        if (side < 6) return own.expire()
        if (side < 12) return own.release(owner)
        return db.transaction(tx => own.claim(tx, owner, lines)).then(() => 'claimed', codeOf)
      })
      const ends = (await Promise.all(sides)).filter(end => typeof end === 'string')
      const claimed = ends.filter(end => end === 'claimed').length
      expect(claimed).toBeLessThanOrEqual(1)
      expect(ends.filter(end => end === 'INVENTORY_CLAIM_LOST').length).toBe(4 - claimed)
      const [row] = await sql('select state from inventory.reservations where owner = $1', [owner])
      expect(row?.state).toBe(claimed === 1 ? 'claimed' : 'closed')
      claims += claimed
    }
    expect(await reservedOf(client, itemId)).toMatchObject(claims > 0 ? { claimed: claims } : {})
    await expectConsistentStock()
  },
  60_000
)

test('an order that reserves stock simultaneously in two processes holds the lines once', async () => {
  const { stocks, itemIds, client, expectConsistentStock } = await useStock({
    items: 2,
    onHand: 50,
    processes: 2
  })
  const [a, b] = itemIds as [string, string]
  for (let round = 0; round < 10; round += 1) {
    const owner = newId()
    const lines = [a, b].map(variantId => ({ variantId, quantity: 2 }))
    await Promise.all(times(8, side => stocks[side % 2]?.buy(owner, lines)))
  }
  expect(await reservedOf(client, a)).toEqual({ held: 20 })
  expect(await reservedOf(client, b)).toEqual({ held: 20 })
  await expectConsistentStock()
})

test('a claim of reserved stock in a transaction that rolls back leaves the reservation held', async () => {
  const { stock, itemId, client, expectConsistentStock } = await useStock()
  const owner = newId()
  const lines = [{ variantId: itemId, quantity: 3 }]
  await stock.buy(owner, lines)
  const rolledBack = stock.db.transaction(async tx => {
    await stock.claim(tx, owner, lines)
    throw new Error('the order was refused')
  })
  await expect(rolledBack).rejects.toThrow('the order was refused')
  expect(await reservedOf(client, itemId)).toEqual({ held: 3 })
  await stock.db.transaction(tx => stock.claim(tx, owner, lines))
  await stock.release(owner)
  expect(await reservedOf(client, itemId)).toEqual({ claimed: 3 })
  await stock.db.transaction(tx => stock.confirm(tx, owner))
  expect(await reservedOf(client, itemId)).toEqual({ confirmed: 3 })
  await expectConsistentStock()
})

test('a claim of stock that is not reserved, or was released, is rejected', async () => {
  const { stock, itemIds, sql } = await useStock({ items: 2 })
  const [a, b] = itemIds as [string, string]
  const untracked = newId()
  const owner = newId()
  await stock.buy(owner, [
    { variantId: a, quantity: 2 },
    { variantId: untracked, quantity: 1 }
  ])
  const claim = (...lines: [string, number][]) =>
    stock.db
      .transaction(tx =>
        stock.claim(
          tx,
          owner,
          lines.map(([variantId, quantity]) => ({ variantId, quantity }))
        )
      )
      .then(() => 'claimed', codeOf)
  expect(await claim([a, 3])).toBe('INVENTORY_CLAIM_LOST')
  expect(await claim([a, 1])).toBe('INVENTORY_CLAIM_LOST')
  expect(await claim([a, 2], [b, 1])).toBe('INVENTORY_CLAIM_LOST')
  expect(await claim([untracked, 1])).toBe('INVENTORY_CLAIM_LOST')
  await stock.release(owner)
  expect(await claim([a, 2])).toBe('INVENTORY_CLAIM_LOST')
  await stock.buy(owner, [{ variantId: a, quantity: 2 }])
  expect(await claim([a, 2], [untracked, 1])).toBe('claimed')
  await expect(stock.buy(owner, [{ variantId: a, quantity: 1 }])).rejects.toMatchObject({
    code: 'INVENTORY_OWNER_TAKEN'
  })
  expect(await sql('select state from inventory.reservations where owner = $1', [owner])).toEqual([
    { state: 'claimed' }
  ])
})

test('an open claim of stock delays only the release of the same reservation, and no other purchase', async () => {
  const { stock, itemId, client, expectConsistentStock } = await useStock()
  const lines = [{ variantId: itemId, quantity: 1 }]
  const owner = newId()
  await stock.buy(owner, lines)
  const [isClaimed, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const claiming = stock.db.transaction(async tx => {
    await stock.claim(tx, owner, lines)
    isClaimed.resolve()
    await mayCommit.promise
  })
  await isClaimed.promise
  const released = stock.release(owner)
  for (const other of times(5, newId)) await stock.buy(other, lines)
  mayCommit.resolve()
  await claiming
  await released
  expect(await reservedOf(client, itemId)).toEqual({ claimed: 1, held: 5 })
  await expectConsistentStock()
})

test('stock requests are executed once and in their order by two processes', async () => {
  const { stocks, itemId, locationId, sql, expectConsistentStock } = await useStock({
    processes: 2,
    onHand: 0
  })
  const id = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  const adjust = (index: number) => ({
    kind: 'adjust' as const,
    id: id(index),
    actor: null,
    reason: 'delivery',
    lines: [{ itemId, locationId, delta: 1 }]
  })
  for (let index = 0; index < 120; index += 1) {
    const stock = stocks[index % 2] as (typeof stocks)[0]
    await stock.db.transaction(tx => stock.postAll(tx, [adjust(index)]))
  }
  const done = async () => {
    const [open] = await sql('select count(*)::int as open from inventory.requests where done_at is null')
    return open?.open === 0
  }
  await until('all stock requests are executed', done)
  const order = await sql(
    `select operation from inventory.movements where item_id = $1 and kind = 'adjust' order by seq`,
    [itemId]
  )
  expect(order.map(({ operation }) => operation)).toEqual(times(120, id))
  await expectConsistentStock()
})

test('a stock request of an order is executed after its commit, and not after a rollback', async () => {
  const { stock, itemId, client, sql, expectConsistentStock } = await useStock({ onHand: 10 })
  const lines = [{ variantId: itemId, quantity: 4 }]
  const owner = newId()
  await stock.buy(owner, lines)
  await stock.db.transaction(tx => stock.claim(tx, owner, lines))
  const refused = stock.db.transaction(async tx => {
    await stock.post(tx, { id: newId(), kind: 'release', owner })
    throw new Error('no')
  })
  await expect(refused).rejects.toThrow('no')
  const ship = { id: newId(), kind: 'ship', owner, lines: [{ variantId: itemId, quantity: 3 }] } as const
  await stock.db.transaction(tx => stock.post(tx, ship))
  expect(await stock.writer.outcomeOf(ship.id, performance.now() + 5_000)).toEqual({ kind: 'done' })
  expect(await reservedOf(client, itemId)).toEqual({ claimed: 1 })
  const rest = { id: newId(), kind: 'release', owner } as const
  await stock.db.transaction(tx => stock.post(tx, rest))
  await stock.writer.outcomeOf(rest.id, performance.now() + 5_000)
  const back = { id: newId(), kind: 'return', owner, lines: [{ variantId: itemId, quantity: 2 }] } as const
  await stock.db.transaction(tx => stock.post(tx, back))
  await stock.writer.outcomeOf(back.id, performance.now() + 5_000)
  expect(await sql('select on_hand, reserved from inventory.levels')).toEqual([{ on_hand: 9, reserved: 0 }])
  await expectConsistentStock()
})

test('a voided shipment returns its units once, from two processes and in the batch that shipped it', async () => {
  const { stocks, itemIds, client, sql, expectConsistentStock } = await useStock({
    items: 3,
    onHand: 100,
    processes: 2
  })
  const [kit, cup, plate] = itemIds as [string, string, string]
  const setKit = async (cups: number) => {
    await sql('delete from inventory.components')
    await sql('insert into inventory.components values ($1, $2, $3), ($1, $4, 1)', [kit, cup, cups, plate])
    for (const stock of stocks) stock.forgetKits()
  }
  await setKit(2)
  const all = [
    { variantId: kit, quantity: 2 },
    { variantId: cup, quantity: 1 }
  ]
  const owners = times(12, newId)
  const endings = await Promise.all(
    owners.map(async (owner, number) => {
      const stock = stocks[number % 2] as (typeof stocks)[0]
      await stock.buy(owner, all)
      await stock.db.transaction(tx => stock.claim(tx, owner, all))
      const lines = number % 3 === 0 ? all : [{ variantId: kit, quantity: 1 }]
      const ship = { id: newId(), kind: 'ship', owner, lines } as const
      const undo = () => ({ id: newId(), kind: 'unship', owner, shipment: ship.id }) as const
      const undone = times(3, undo)
      const isAtOnce = number < 6
      await stock.db.transaction(async tx => {
        await stock.post(tx, ship)
        if (isAtOnce) for (const each of undone) await stock.post(tx, each)
      })
      if (!isAtOnce) {
        await stock.writer.outcomeOf(ship.id, performance.now() + 20_000)
        await Promise.all(
          undone.map((each, index) => stocks[index % 2]?.db.transaction(tx => stock.post(tx, each)))
        )
      }
      const outcomes = undone.map(({ id }) => stock.writer.outcomeOf(id, performance.now() + 20_000))
      return (await Promise.all(outcomes)).map(({ kind }) => kind).sort()
    })
  )
  expect(endings).toEqual(times(12, () => ['done', 'nothing', 'nothing']))
  expect(await sql('select distinct on_hand from inventory.levels where item_id <> $1', [kit])).toEqual([
    { on_hand: 100 }
  ])
  const open = async (itemId: string) =>
    Object.values(await reservedOf(client, itemId)).reduce((sum, each) => sum + each, 0)
  expect([await open(cup), await open(plate)]).toEqual([60, 24])
  await expectConsistentStock()

  // A kit that was shipped long ago, and has other components now, returns its former components to its owner.
  const [stock] = stocks as [(typeof stocks)[0]]
  const [owner] = owners as [string]
  const ship = { id: newId(), kind: 'ship', owner, lines: all } as const
  await stock.db.transaction(tx => stock.post(tx, ship))
  await stock.writer.outcomeOf(ship.id, performance.now() + 5_000)
  await sql(`delete from inventory.reservations where state = 'closed'`)
  await sql(`delete from inventory.requests`)
  await setKit(1)
  const undo = async (of: string) => {
    const request = { id: newId(), kind: 'unship', owner: of, shipment: ship.id } as const
    await stock.db.transaction(tx => stock.post(tx, request))
    return stock.writer.outcomeOf(request.id, performance.now() + 5_000)
  }
  expect([await undo(newId()), await undo(owner), await undo(owner)]).toEqual([
    { kind: 'nothing' },
    { kind: 'done' },
    { kind: 'nothing' }
  ])
  expect([await open(cup), await open(plate)]).toEqual([60, 24])
  expect(
    await sql('select state, quantity from inventory.reservations where owner = $1 order by 2', [owner])
  ).toEqual([
    { state: 'confirmed', quantity: 2 },
    { state: 'confirmed', quantity: 5 }
  ])
  await expectConsistentStock()
})

test('the stock operations metric counts queued operations by kind', async () => {
  const { stock, itemId, locationId } = await useStock()
  await stock.count(locationId, { [itemId]: 4 })
  await stock.buy(newId(), [{ variantId: itemId, quantity: 1 }])
  expect(['count', 'reserve', 'adjust'].map(stock.operations)).toEqual([2, 1, 0])
})

test('the first stock level of an item is published although its count waits for another item', async () => {
  const { stock, itemId, locationId, sql, client } = await useStock()
  const opened = newId()
  await sql(`insert into inventory.items (id, tracked, backorder) values ($1, true, 'any')`, [opened])
  stock.told.crossings.length = 0
  await client.query('begin')
  await client.query('select from inventory.levels where item_id = $1 for update', [itemId])
  const counted = stock.count(locationId, { [opened]: 0, [itemId]: 5 })
  const isMade = async () =>
    (await sql('select from inventory.levels where item_id = $1', [opened])).length > 0
  await until('the first level is created', isMade)
  await client.query('rollback')
  expect(await counted).toMatchObject([{ kind: 'counted' }])
  expect(stock.told.crossings).toMatchObject([{ itemId: opened, status: 'in' }])
})

test('a stock count of a tracked and an untracked item records the tracked one', async () => {
  const { stock, itemId, locationId, sql, expectConsistentStock } = await useStock()
  const [untracked] = await sql('insert into inventory.items (id) values (gen_random_uuid()) returning id')
  expect(await stock.count(locationId, { [untracked?.id]: 3, [newId()]: 4, [itemId]: 5 })).toEqual([
    { kind: 'counted', stale: [], short: [] }
  ])
  expect(await sql('select item_id, on_hand from inventory.levels')).toEqual([
    { item_id: itemId, on_hand: 5 }
  ])
  await expectConsistentStock()
})

test('a kit reserves its parts, and a cart with the kit and a part reserves their sum', async () => {
  const { stock, itemIds, sql, expectConsistentStock } = await useStock({ items: 3, onHand: 10 })
  const [kit, cup, plate] = itemIds as [string, string, string]
  await sql('insert into inventory.components values ($1, $2, 2), ($1, $3, 1)', [kit, cup, plate])
  stock.forgetKits()
  const owner = newId()
  const lines = [
    { variantId: kit, quantity: 3 },
    { variantId: cup, quantity: 4 }
  ]
  await stock.buy(owner, lines)
  const levels = await sql('select reserved from inventory.levels where item_id = any ($1) order by 1', [
    [cup, plate]
  ])
  expect(levels).toEqual([{ reserved: 3 }, { reserved: 10 }])
  await expect(stock.buy(newId(), [{ variantId: kit, quantity: 1 }])).rejects.toMatchObject({
    details: { items: [{ variant_id: kit, requested: 1, available: 0 }] }
  })
  await stock.db.transaction(tx => stock.claim(tx, owner, lines))
  await expectConsistentStock()
})

test('a full queue of the stock writer rejects further purchases immediately', async () => {
  const { stock, itemId, expectConsistentStock } = await useStock({ queueMax: 50, onHand: 1_000 })
  const lines = [{ variantId: itemId, quantity: 1 }]
  const ends = await tally(times(200, () => stock.buy(newId(), lines)))
  expect(ends.done).toBe(50)
  expect(ends.INVENTORY_BUSY).toBe(150)
  await stock.buy(newId(), lines)
  await expectConsistentStock()
})

test('stock that sells out, returns or is short is published together with the batch that changed it', async () => {
  const { stock, itemId, locationId, expectConsistentStock } = await useStock({ onHand: 1 })
  stock.told.crossings.length = 0
  const owner = newId()
  const lines = [{ variantId: itemId, quantity: 1 }]
  await stock.buy(owner, lines)
  expect(stock.told.crossings).toMatchObject([{ itemId, variantIds: [itemId], available: 0, status: 'out' }])
  await stock.db.transaction(tx => stock.claim(tx, owner, lines))
  expect(await stock.count(locationId, { [itemId]: 0 })).toMatchObject([{ kind: 'counted', short: [itemId] }])
  expect(stock.told.shortfalls).toEqual([{ itemId, locationId, onHand: 0, reserved: 1, owners: [owner] }])
  await stock.count(locationId, { [itemId]: 5 })
  expect(stock.told.crossings.at(-1)).toMatchObject({ status: 'in', available: 4 })
  await expectConsistentStock()
})
