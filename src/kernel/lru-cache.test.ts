import { expect, test } from 'vitest'
import { createLruCache } from './lru-cache.ts'

const lruOf = (entriesMax: number, sizeMax: number) =>
  createLruCache<string>({ entriesMax, sizeMax, sizeOf: value => value.length })

test('the entry of an LRU cache that was used least recently is evicted when there are too many', () => {
  const lru = lruOf(2, 100)
  for (const key of ['a', 'b']) lru.set(key, key)
  lru.get('a')
  lru.set('c', 'c')
  expect(['a', 'b', 'c'].map(lru.get)).toEqual(['a', undefined, 'c'])
  expect(lru.size()).toBe(2)
})

test('entries of an LRU cache are evicted until the rest fit into its size', () => {
  const lru = lruOf(100, 10)
  for (const key of ['a', 'b', 'c']) lru.set(key, key.repeat(5))
  expect(['a', 'b', 'c'].map(lru.get)).toEqual([undefined, 'bbbbb', 'ccccc'])
})

test('replacing a value in an LRU cache evicts no other entry', () => {
  const lru = lruOf(2, 100)
  for (const key of ['a', 'b', 'b']) lru.set(key, key)
  expect(['a', 'b'].map(lru.get)).toEqual(['a', 'b'])
})

test('an entry of an LRU cache expires after its time to live', async () => {
  const lru = lruOf(100, 100)
  lru.set('a', 'a', { ttl: 1 })
  await expect.poll(() => lru.get('a')).toBeUndefined()
})
