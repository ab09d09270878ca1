import fc from 'fast-check'
import { expect, test } from 'vitest'
import { averageRatingOf, type RatingHistogram } from '../ratings/service.ts'
import { REVIEW_STATUS_TRANSITIONS, REVIEW_STATUSES, reviewStatusAfterWrite } from './status.ts'
import { publicAuthorName } from './texts.ts'

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
])("the public form of the review author's name %j is %j", (name, shown) => {
  expect(publicAuthorName(name)).toBe(shown)
})

test('the average rating has two decimals, rounded half up', () => {
  expect(averageRatingOf([0, 0, 0, 0, 0])).toBeNull()
  expect(averageRatingOf([0, 0, 0, 0, 7])).toBe(5)
  expect(averageRatingOf([1, 0, 0, 0, 2])).toBe(3.67)
  expect(averageRatingOf([1, 1, 0, 1, 0])).toBe(2.33)
  // 1.005, whose binary floating-point value is below the half.
  expect(averageRatingOf([199, 1, 0, 0, 0])).toBe(1.01)
})

const Counts = fc.tuple(...Array.from({ length: 5 }, () => fc.nat(2_000_000_000)))
test('the average rating differs from the mean by half of its last decimal at most, and is between 1 and 5', () => {
  fc.assert(
    fc.property(Counts, given => {
      const histogram = given as unknown as RatingHistogram
      const count = given.reduce((sum, times) => sum + times, 0)
      const stars = given.reduce((sum, times, index) => sum + times * (index + 1), 0)
      const average = averageRatingOf(histogram)
      if (average === null) return count === 0
      const hundredths = BigInt(Math.round(average * 100))
      const off = 2n * (hundredths * BigInt(count) - 100n * BigInt(stars))
      return average >= 1 && average <= 5 && off <= BigInt(count) && off > -BigInt(count)
    })
  )
})

test('writing a review never publishes a rejected or pending one, or any with moderation', () => {
  for (const before of [null, ...REVIEW_STATUSES]) {
    expect(reviewStatusAfterWrite(before, { moderation: 'before', wasRejected: false })).toBe('pending')
    expect(reviewStatusAfterWrite(before, { moderation: 'none', wasRejected: true })).toBe('pending')
  }
  const free = { moderation: 'none', wasRejected: false } as const
  expect([null, ...REVIEW_STATUSES].map(before => reviewStatusAfterWrite(before, free))).toEqual([
    ...['published', 'pending', 'published', 'published']
  ])
  expect(Object.values(REVIEW_STATUS_TRANSITIONS).flatMap(next => Object.values(next))).not.toContain(
    'pending'
  )
})
