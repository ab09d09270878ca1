import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RecentlyUsedMap } from './recently-used-map.ts'

test('recently read entries of a recent-map stay, and the others are evicted', () => {
  const map = new RecentlyUsedMap<number>(10)
  map.set('often', 0)
  for (let number = 1; number <= 100; number += 1) {
    map.set(`once ${number}`, number)
    expect(map.get('often')).toBe(0)
  }
  expect(map.get('once 100')).toBe(100)
  expect(map.get('once 1')).toBeUndefined()
})

test('a recent-map always keeps as many of the newest entries as half its capacity', () => {
  const map = new RecentlyUsedMap<number>(10)
  for (const round of [1, 2, 3]) {
    for (let number = 0; number < 5; number += 1) map.set(`${round} ${number}`, number)
    for (let number = 0; number < 5; number += 1) expect(map.get(`${round} ${number}`)).toBe(number)
  }
})

test('a value that is too large for a recent-map is not stored and removes the previous one', () => {
  const map = new RecentlyUsedMap<string>(10, value => value.length)
  map.set('a', 'small')
  map.set('a', 'too large')
  expect(map.get('a')).toBeUndefined()
  const none = new RecentlyUsedMap<string>(0)
  none.set('a', '')
  expect(none.get('a')).toBeUndefined()
})

type Step = { do: 'get' | 'set' | 'delete' | 'clear'; key: string; value: number }
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('get', 'get', 'set', 'set', 'set', 'delete', 'clear'),
  key: fc.constantFrom(...'abcdefgh'),
  value: fc.nat({ max: 8 })
})

test('after any operations on a recent-map, get returns the last value or undefined, and its size stays bounded', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const map = new RecentlyUsedMap<number>(16, value => value)
      const all = new Map<string, number>()
      for (const { do: what, key, value } of steps) {
        if (what === 'get') expect([undefined, all.get(key)]).toContain(map.get(key))
        if (what === 'set') map.set(key, value)
        if (what === 'set') all.set(key, value)
        if (what === 'delete') map.delete(key)
        if (what === 'delete') all.delete(key)
        if (what === 'clear') map.clear()
        if (what === 'clear') all.clear()
        expect(map.size).toBeLessThanOrEqual(16)
      }
      for (const [key] of all) map.delete(key)
      expect(map.size).toBe(0)
    })
  )
})
