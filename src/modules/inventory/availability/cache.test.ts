import { expect, test } from 'vitest'
import { newId } from '../../../kernel/ids.ts'
import type { Broadcast, BroadcastSubscriber } from '../../../platform/broadcast.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { createAvailabilityCache } from './cache.ts'
import { createAvailabilityChangeBroadcaster } from './changes.ts'

/** An inventory in the hands of the test: its stock, its clock, its messages, and when its statements are answered. */
function fakeSurroundings(stock: Map<string, number>) {
  const subscribers: BroadcastSubscriber[] = []
  const state = { live: true, time: 0, asked: [] as string[][], gate: Promise.resolve(), isTracked: true }
  const noted: string[] = []
  const polls: (string | null)[] = []
  const db = {
    first: async ({ name }: { name: string }, given: { since: string | null }) => {
      const answer = name === 'inventory.list_changes' ? listChanges(given) : { is_tracked: state.isTracked }
      await state.gate
      return answer
    },
    rows: async (_statement: unknown, { variantIds }: { variantIds: string[] }) => {
      state.asked.push(variantIds)
      const rows = variantIds
        .filter(id => stock.has(id))
        .map(id => ({ variant_id: id, available: stock.get(id) }))
      await state.gate
      return rows
    }
  } as unknown as Queryable
  const listChanges = ({ since }: { since: string | null }) => {
    polls.push(since)
    const variant_ids = since === null ? [] : noted.slice(Number(since))
    return { snapshot: String(noted.length), variant_ids }
  }
  const broadcast: Broadcast = {
    publish: async () => {},
    subscribe: (_topic, subscriber) => subscribers.push(subscriber),
    watch: () => {},
    isLive: () => state.live,
    close: async () => {}
  }
  const cache = createAvailabilityCache({
    db,
    changes: createAvailabilityChangeBroadcaster(broadcast),
    now: () => state.time
  })
  return {
    ...cache,
    state,
    announce: (message: string) => {
      for (const each of subscribers) each.onMessage(message)
    },
    setLive: (live: boolean) => {
      state.live = live
      for (const each of subscribers) each.onGap()
    },
    /** A sale in another process, which is not broadcast. */
    sell: (id: string, left: number) => {
      stock.set(id, left)
      noted.push(id)
    },
    /** The statements since the last time. */
    asked: () => state.asked.splice(0),
    /** Since when changes were asked for since the last time; null: since now. */
    polls: () => polls.splice(0),
    /** Answers are held back from now on, until what this returns is called. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      state.gate = promise
      return () => resolve()
    }
  }
}

test('a cached stock quantity is served until it changes, and changes are polled within a second', async () => {
  const [counted, other] = [newId(), newId()]
  const inventory = fakeSurroundings(new Map([[counted, 5]]))
  expect(await inventory.available([counted, other])).toEqual([5, null])
  expect(inventory.asked()).toEqual([[counted, other]])
  expect(inventory.polls()).toEqual([null])
  inventory.sell(counted, 4)
  inventory.state.time = 399
  expect(await inventory.available([counted, other])).toEqual([5, null])
  expect(inventory.polls()).toEqual([])
  inventory.state.time = 1_000
  expect(await inventory.available([counted, other])).toEqual([4, null])
  expect(inventory.polls()).toEqual(['0'])
  expect(inventory.asked()).toEqual([[counted]])
  inventory.state.time = 2_000
  expect(await inventory.available([counted, other])).toEqual([4, null])
  expect(inventory.asked()).toEqual([])
})

test('a stock snapshot requested before a gap in messages is not used after the gap', async () => {
  const id = newId()
  const inventory = fakeSurroundings(new Map([[id, 5]]))
  await inventory.available([id])
  expect(inventory.polls()).toEqual([null])
  inventory.setLive(false)
  inventory.setLive(true)
  inventory.state.time = 1_000
  await inventory.available([id])
  expect(inventory.polls()).toEqual([null])

  inventory.state.time = 1_500
  const letGo = inventory.hold()
  await inventory.available([id])
  expect(inventory.polls()).toEqual(['0'])
  inventory.setLive(false)
  inventory.setLive(true)
  letGo()
  await expect
    .poll(async () => {
      inventory.state.time += 1_000
      await inventory.available([id])
      return inventory.polls()
    })
    .toEqual([null])
})

test('steady readers of cached stock never wait for a poll, and one poll runs at a time', async () => {
  const [sold, other] = [newId(), newId()]
  const inventory = fakeSurroundings(new Map([sold, other].map(id => [id, 5])))
  await inventory.available([sold, other])
  inventory.asked()
  inventory.polls()
  inventory.sell(sold, 4)
  inventory.state.time = 400
  const letGo = inventory.hold()
  expect(await inventory.available([sold])).toEqual([5])
  expect(await inventory.available([sold, other])).toEqual([5, 5])
  expect(inventory.polls()).toEqual(['0'])
  letGo()
  await expect.poll(() => inventory.available([sold])).toEqual([4])
  expect(inventory.asked()).toEqual([[sold]])
})

test('no cached stock quantity is served while changes cannot be polled', async () => {
  const id = newId()
  const inventory = fakeSurroundings(new Map([[id, 5]]))
  await inventory.available([id])
  inventory.state.time = 1_000
  inventory.state.gate = Promise.reject(new Error('gone'))
  inventory.state.gate.catch(() => {})
  await expect(inventory.available([id])).rejects.toThrow('gone')
  inventory.sell(id, 4)
  inventory.state.gate = Promise.resolve()
  expect(await inventory.available([id])).toEqual([4])
})

test('after a pause longer than the retention of changes, no old stock quantity is served', async () => {
  const id = newId()
  const stock = new Map([[id, 5]])
  const inventory = fakeSurroundings(stock)
  await inventory.available([id])
  stock.set(id, 4)
  inventory.state.time = 300_000
  inventory.polls()
  expect(await inventory.available([id])).toEqual([4])
  expect(inventory.polls()).toEqual([null])
})

test('missing stock of one event-loop turn is loaded in one statement of up to 500 ids', async () => {
  const ids = Array.from({ length: 900 }, newId)
  const inventory = fakeSurroundings(new Map(ids.map((id, index) => [id, index])))
  const [first, second] = await Promise.all([
    inventory.available(ids.slice(0, 300)),
    inventory.available(ids.slice(100, 200))
  ])
  expect([first[250], second[99]]).toEqual([250, 199])
  expect(inventory.asked()).toEqual([ids.slice(0, 300)])
  await Promise.all([inventory.available(ids.slice(300, 700)), inventory.available(ids.slice(700))])
  expect(inventory.asked().map(each => each.length)).toEqual([400, 200])
  expect(await inventory.available(ids)).toEqual(ids.map((_, index) => index))
  expect(inventory.asked()).toEqual([])
})

test('a failed load of stock rejects its callers and no later ones', async () => {
  const id = newId()
  const inventory = fakeSurroundings(new Map([[id, 1]]))
  inventory.state.gate = Promise.reject(new Error('gone'))
  inventory.state.gate.catch(() => {})
  await expect(inventory.available([id])).rejects.toThrow('gone')
  inventory.state.gate = Promise.resolve()
  expect(await inventory.available([id])).toEqual([1])
})

for (const [how, messageFor] of [
  ['the variant', (id: string) => id],
  ['everything', () => 'all']
] as const) {
  test(`a stock quantity read before a change of ${how} that arrives after its message is not cached`, async () => {
    const id = newId()
    const stock = new Map([[id, 1]])
    const inventory = fakeSurroundings(stock)
    await inventory.available([])
    const letGo = inventory.hold()
    const underWay = inventory.available([id])
    await expect.poll(() => inventory.state.asked).toHaveLength(1)
    stock.set(id, 0)
    inventory.announce(messageFor(id))
    letGo()
    expect(await underWay).toEqual([1])
    expect(await inventory.available([id])).toEqual([0])
  })
}

test('a stock quantity that was read before a sale and arrives after the poll is not cached', async () => {
  const id = newId()
  const inventory = fakeSurroundings(new Map([[id, 5]]))
  await inventory.available([])
  const letGo = inventory.hold()
  const underWay = inventory.available([id])
  await expect.poll(() => inventory.state.asked).toHaveLength(1)
  inventory.state.gate = Promise.resolve()
  inventory.sell(id, 4)
  inventory.state.time = 1_000
  await inventory.available([])
  letGo()
  expect(await underWay).toEqual([5])
  expect(await inventory.available([id])).toEqual([4])
})

test('while invalidation messages may be missed, the stock cache is neither read nor filled', async () => {
  const id = newId()
  const inventory = fakeSurroundings(new Map([[id, 1]]))
  await inventory.available([id])
  await inventory.available([id])
  expect(inventory.asked()).toHaveLength(1)
  inventory.setLive(false)
  await inventory.available([id])
  await inventory.available([id])
  expect(inventory.asked()).toHaveLength(2)
  inventory.setLive(true)
  await inventory.available([id])
  await inventory.available([id])
  expect(inventory.asked()).toHaveLength(1)
})

test('without tracked items no stock is loaded until a message or a gap in messages', async () => {
  const id = newId()
  const stock = new Map<string, number>()
  const inventory = fakeSurroundings(stock)
  inventory.state.isTracked = false
  await inventory.start()
  expect(await inventory.available([id, newId()])).toEqual([null, null])
  expect(inventory.asked()).toEqual([])

  // After another process's message it is unknown until the database is read again.
  inventory.announce(newId())
  expect(await inventory.available([id])).toEqual([null])
  expect(inventory.asked()).toHaveLength(1)
  await expect
    .poll(async () => {
      await inventory.available([newId()])
      return inventory.asked()
    })
    .toEqual([])

  stock.set(id, 3)
  inventory.state.isTracked = true
  inventory.announce(id)
  expect(await inventory.available([id])).toEqual([3])
  stock.delete(id)
  inventory.state.isTracked = false
  inventory.setLive(true)
  await expect
    .poll(async () => {
      await inventory.available([newId()])
      return inventory.asked()
    })
    .toEqual([])
})

test('a stock check that began before the first item was tracked does not hide that item', async () => {
  const id = newId()
  const stock = new Map<string, number>()
  const inventory = fakeSurroundings(stock)
  inventory.state.isTracked = false
  const letGo = inventory.hold()
  const started = inventory.start()
  stock.set(id, 3)
  inventory.announce(id)
  letGo()
  await started
  expect(await inventory.available([id])).toEqual([3])
})

test('the stock cache never exceeds its size limit', async () => {
  const inventory = fakeSurroundings(new Map())
  const first = newId()
  await inventory.available([first])
  for (let round = 0; round < 400; round += 1) await inventory.available(Array.from({ length: 500 }, newId))
  inventory.asked()
  await inventory.available([first])
  expect(inventory.asked()).toEqual([[first]])
})
