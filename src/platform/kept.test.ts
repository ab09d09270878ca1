import { expect, test } from 'vitest'
import { useShop } from '../../test/support/use-shop.ts'
import { createChanges, keep } from './kept.ts'

/** Readings that are answered when the test says so. */
function useReadings() {
  const state = { isLive: true, change: () => {}, answers: [] as ((value: string) => void)[] }
  const changes = {
    isLive: () => state.isLive,
    subscribe: (onChange: () => void) => {
      state.change = onChange
    }
  }
  const read = keep(changes, () => new Promise<string>(resolve => state.answers.push(resolve)))
  return { state, read, answer: (nth: number, value: string) => state.answers[nth]?.(value) }
}

test('what was read is kept until it changes, and read once for all who ask meanwhile', async () => {
  const { state, read, answer } = useReadings()
  const both = [read(), read()]
  answer(0, 'old')
  expect(await Promise.all(both)).toEqual(['old', 'old'])
  expect([await read(), state.answers.length]).toEqual(['old', 1])
  state.change()
  const next = read()
  answer(1, 'new')
  expect([await next, await read(), state.answers.length]).toEqual(['new', 'new', 2])
})

test('what was read before a change and arrives after it is not kept, and whoever asks then does not get it', async () => {
  const { state, read, answer } = useReadings()
  const before = read()
  state.change()
  const after = read()
  answer(1, 'new')
  answer(0, 'old')
  expect([await before, await after, await read()]).toEqual(['old', 'new', 'new'])
})

test('while changes may be missed, it is read each time', async () => {
  const { state, read, answer } = useReadings()
  state.isLive = false
  const first = read()
  answer(0, 'one')
  const second = first.then(() => read())
  await first
  answer(1, 'two')
  await expect.poll(() => state.answers.length).toBe(2)
  answer(1, 'two')
  expect(await second).toBe('two')
})

test('a change is known here when its transaction has returned, elsewhere soon after, and not when it is rolled back', async () => {
  const here = await useShop({ modules: [] })
  const elsewhere = await useShop({ modules: [], databaseUrl: here.databaseUrl })
  const [mine, theirs] = [here, elsewhere].map(({ platform }) => {
    const changes = createChanges(platform.broadcast, 'rules')
    const seen = { changes: 0 }
    changes.subscribe(() => {
      seen.changes += 1
    })
    return { ...changes, seen }
  })
  if (mine === undefined || theirs === undefined) return expect.fail('two processes')
  const failing = here.db.transaction(async tx => {
    mine.announce(tx)
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  expect(mine.seen.changes).toBe(0)
  await here.db.transaction(async tx => {
    mine.announce(tx)
    mine.announce(tx)
  })
  // The message comes back here, too, sooner or later.
  expect(mine.seen.changes).toBeGreaterThanOrEqual(1)
  await expect.poll(() => theirs.seen.changes).toBe(1)
})
