import { expect, test } from 'vitest'
import { useShop } from '../../test/support/use-shop.ts'
import { createCachedReader, createCacheInvalidator } from './cached.ts'

/** A cached value whose reads the test answers. */
function useReadings() {
  const state = { isLive: true, change: () => {}, answers: [] as ((value: string) => void)[] }
  const changes = {
    isLive: () => state.isLive,
    subscribe: (onChange: () => void) => {
      state.change = onChange
    }
  }
  const read = createCachedReader(changes, () => new Promise<string>(resolve => state.answers.push(resolve)))
  return { state, read, answer: (nth: number, value: string) => state.answers[nth]?.(value) }
}

test('a cached value is kept until it changes, and concurrent callers share one read', async () => {
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

test('a value read before a change and arriving after it is neither cached nor returned to later callers', async () => {
  const { state, read, answer } = useReadings()
  const before = read()
  state.change()
  const after = read()
  answer(1, 'new')
  answer(0, 'old')
  expect([await before, await after, await read()]).toEqual(['old', 'new', 'new'])
})

test('while invalidations may be missed, every call reads the value again and does not cache it', async () => {
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

test('a cache invalidation takes effect at its commit, reaches other processes soon, and is dropped by a rollback', async () => {
  const here = await useShop({ modules: [] })
  const elsewhere = await useShop({ modules: [], databaseUrl: here.databaseUrl })
  const [mine, theirs] = [here, elsewhere].map(({ platform }) => {
    const invalidation = createCacheInvalidator(platform.broadcast, 'rules')
    const seen = { changes: 0 }
    invalidation.subscribe(() => {
      seen.changes += 1
    })
    return { ...invalidation, seen }
  })
  if (mine === undefined || theirs === undefined) return expect.fail('two processes')
  const failing = here.db.transaction(async tx => {
    mine.publish(tx)
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  expect(mine.seen.changes).toBe(0)
  await here.db.transaction(async tx => {
    mine.publish(tx)
    mine.publish(tx)
  })
  // This process also receives its own message, at any time.
  expect(mine.seen.changes).toBeGreaterThanOrEqual(1)
  await expect.poll(() => theirs.seen.changes).toBe(1)
})
