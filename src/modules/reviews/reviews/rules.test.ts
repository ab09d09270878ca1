import fc from 'fast-check'
import { expect, test } from 'vitest'
import { averageOf, type Histogram } from '../ratings/histogram.ts'
import { NEXT, STATUSES, statusOfWritten } from './status.ts'
import { displayName } from './texts.ts'

test.each([
  ['Ada Lovelace', 'Ada L.'],
  ['  Ada  King   Lovelace ', 'Ada L.'],
  ['Ada', 'Ada'],
  ['李 小龍', '李 小.'],
  ['Zoë 𝒳avier', 'Zoë 𝒳.'],
  ['Ada\u202e\u0007Lovelace', 'Ada L.'],
  ['ada@example.com', null],
  ['Ada <ada@example.com>', null],
  ['   ', null],
  [null, null]
])('of the name %j others read %j', (name, shown) => {
  expect(displayName(name)).toBe(shown)
})

test('the average is the mean to two decimals, halves rounded up', () => {
  expect(averageOf([0, 0, 0, 0, 0])).toBeNull()
  expect(averageOf([0, 0, 0, 0, 7])).toBe(5)
  expect(averageOf([1, 0, 0, 0, 2])).toBe(3.67)
  expect(averageOf([1, 1, 0, 1, 0])).toBe(2.33)
  // 1.005, which as a fraction in binary lies below the half.
  expect(averageOf([199, 1, 0, 0, 0])).toBe(1.01)
})

const Counts = fc.tuple(...Array.from({ length: 5 }, () => fc.nat(2_000_000_000)))
test('the average is never further from the mean than half of its last decimal, and within the stars', () => {
  fc.assert(
    fc.property(Counts, given => {
      const histogram = given as unknown as Histogram
      const count = given.reduce((sum, times) => sum + times, 0)
      const stars = given.reduce((sum, times, index) => sum + times * (index + 1), 0)
      const average = averageOf(histogram)
      if (average === null) return count === 0
      const hundredths = BigInt(Math.round(average * 100))
      const off = 2n * (hundredths * BigInt(count) - 100n * BigInt(stars))
      return average >= 1 && average <= 5 && off <= BigInt(count) && off > -BigInt(count)
    })
  )
})

test('nobody publishes by writing what was turned down, what waits, or where an administrator decides first', () => {
  for (const before of [null, ...STATUSES]) {
    expect(statusOfWritten(before, { moderation: 'before', wasTurnedDown: false })).toBe('pending')
    expect(statusOfWritten(before, { moderation: 'none', wasTurnedDown: true })).toBe('pending')
  }
  const free = { moderation: 'none', wasTurnedDown: false } as const
  expect([null, ...STATUSES].map(before => statusOfWritten(before, free))).toEqual([
    ...['published', 'pending', 'published', 'published']
  ])
  expect(Object.values(NEXT).flatMap(next => Object.values(next))).not.toContain('pending')
})
