import { expect, test } from 'vitest'
import { RecentlyUsedPairMap } from './recently-used-pair-map.ts'

test('values of recent-pairs are found by both halves of their key and deleted by the second half or all together', () => {
  const pairs = new RecentlyUsedPairMap<number>(100)
  pairs.set('a', 'x', 1)
  pairs.set('b', 'x', 2)
  pairs.set('a', 'y', 3)
  pairs.set('a', 'y', 0)
  expect([pairs.get('a', 'x'), pairs.get('b', 'x'), pairs.get('a', 'y')]).toEqual([1, 2, 0])
  expect([pairs.get('b', 'y'), pairs.get('c', 'x')]).toEqual([undefined, undefined])
  pairs.deleteSecond('x')
  expect([pairs.get('a', 'x'), pairs.get('b', 'x'), pairs.get('a', 'y')]).toEqual([undefined, undefined, 0])
  pairs.clear()
  expect(pairs.get('a', 'y')).toBeUndefined()
})

test('the number of recent-pairs is bounded for any first halves, and recently read pairs stay', () => {
  const pairs = new RecentlyUsedPairMap<number>(20)
  pairs.set('a', 'wanted', 1)
  for (let each = 0; each < 1_000; each += 1) {
    pairs.set(`list ${each}`, `item ${each}`, each)
    expect(pairs.get('a', 'wanted')).toBe(1)
  }
  let left = 0
  for (let each = 0; each < 1_000; each += 1)
    if (pairs.get(`list ${each}`, `item ${each}`) !== undefined) left += 1
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThanOrEqual(20)
})

test('a deleted recent-pair is deleted from both generations, and a pair that is set again counts once', () => {
  const pairs = new RecentlyUsedPairMap<number>(4)
  for (const second of ['p', 'q', 'r']) pairs.set('a', second, 1)
  for (const second of ['p', 'q', 'r']) pairs.deleteSecond(second)
  for (const second of ['p', 'q', 'r']) expect(pairs.get('a', second)).toBeUndefined()
  pairs.set('a', 'p', 1)
  for (let each = 0; each < 10; each += 1) pairs.set('a', 'q', each)
  expect([pairs.get('a', 'p'), pairs.get('a', 'q')]).toEqual([1, 9])
})
