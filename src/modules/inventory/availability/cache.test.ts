import { expect, test } from 'vitest'
import { newId } from '../../../kernel/ids.ts'
import type { Broadcast, Subscriber } from '../../../platform/broadcast.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { createAvailability } from './cache.ts'
import { createChanges } from './changes.ts'

/** An inventory in the hands of the test: its stock, its clock, its messages, and when its statements are answered. */
function fakeSurroundings(stock: Map<string, number>) {
  const subscribers: Subscriber[] = []
  const state = { live: true, time: 0, asked: [] as string[][], gate: Promise.resolve(), isTracked: true }
  const db = {
    first: async () => {
      const answer = { is_tracked: state.isTracked }
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
  const broadcast: Broadcast = {
    publish: async () => {},
    subscribe: (_topic, subscriber) => subscribers.push(subscriber),
    isLive: () => state.live,
    close: async () => {}
  }
  const cache = createAvailability({ db, changes: createChanges(broadcast), now: () => state.time })
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
    /** The statements since the last time. */
    asked: () => state.asked.splice(0),
    /** Answers are held back from now on, until what this returns is called. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      state.gate = promise
      return () => resolve()
    }
  }
}

test('a figure is served for less than a second, and what nobody counts until a message names it', async () => {
  const [counted, uncounted] = [newId(), newId()]
  const stock = new Map([[counted, 5]])
  const inventory = fakeSurroundings(stock)
  expect(await inventory.available([counted, uncounted])).toEqual([5, null])
  expect(inventory.asked()).toEqual([[counted, uncounted]])
  stock.set(counted, 4)
  stock.set(uncounted, 9)
  inventory.state.time = 749
  expect(await inventory.available([counted, uncounted])).toEqual([5, null])
  inventory.state.time = 1_000
  expect(await inventory.available([counted, uncounted])).toEqual([4, null])
  expect(inventory.asked()).toEqual([[counted]])
  inventory.announce(`${newId()},${uncounted}`)
  expect(await inventory.available([uncounted])).toEqual([9])
})

test('what is asked for all the time is loaded beside the answers, together, and nobody waits for it', async () => {
  const ids = Array.from({ length: 600 }, newId)
  const stock = new Map(ids.map(id => [id, 5]))
  const inventory = fakeSurroundings(stock)
  await inventory.available(ids)
  inventory.asked()
  for (const id of ids) stock.set(id, 4)
  inventory.state.time = 750
  expect(new Set(await inventory.available([...ids, ...ids]))).toEqual(new Set([5]))
  await expect.poll(() => inventory.state.asked.map(each => each.length)).toEqual([500, 100])
  inventory.state.time = 1_100
  expect(new Set(await inventory.available(ids))).toEqual(new Set([4]))
  expect(inventory.asked()).toHaveLength(2)
  inventory.stop()
})

test('what is missing to all who ask in one turn is one statement, of 500 at most', async () => {
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

test('a failed look-up fails for those who asked, and for nobody after them', async () => {
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
  test(`what was read before a change of ${how}, and arrives after its message, is not kept`, async () => {
    const id = newId()
    const stock = new Map([[id, 1]])
    const inventory = fakeSurroundings(stock)
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

test('while messages may be missed, nothing is served from memory or kept in it', async () => {
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

test('where nothing is tracked nothing is looked up, until a message or a gap may have changed that', async () => {
  const id = newId()
  const stock = new Map<string, number>()
  const inventory = fakeSurroundings(stock)
  inventory.state.isTracked = false
  await inventory.start()
  expect(await inventory.available([id, newId()])).toEqual([null, null])
  expect(inventory.asked()).toEqual([])

  // Another process's message: nobody knows until it was asked, and then it is known again.
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

test('an answer of before the first item was tracked does not hide it', async () => {
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

test('no more is kept than there is room for', async () => {
  const inventory = fakeSurroundings(new Map())
  const first = newId()
  await inventory.available([first])
  for (let round = 0; round < 400; round += 1) await inventory.available(Array.from({ length: 500 }, newId))
  inventory.asked()
  await inventory.available([first])
  expect(inventory.asked()).toEqual([[first]])
})
