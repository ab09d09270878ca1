import fc from 'fast-check'
import { expect, test } from 'vitest'
import { numberOf, permute } from './number.ts'

const KEY = Buffer.alloc(32, 'a')
const LAST = 2 ** 40 - 1

test.each([1, 2, 3, 6])('of a range of 4 to the %i each value is given once', halfBits => {
  const size = 4 ** halfBits
  const given = Array.from({ length: size }, (_, value) => permute(value, KEY, halfBits))
  expect(new Set(given).size).toBe(size)
  expect(Math.min(...given)).toBe(0)
  expect(Math.max(...given)).toBe(size - 1)
})

test('two orders never have the same number, and each is 8 characters that can be read out', () => {
  const value = fc.integer({ min: 0, max: LAST })
  fc.assert(
    fc.property(value, value, fc.uint8Array({ minLength: 32, maxLength: 32 }), (one, other, bytes) => {
      const key = Buffer.from(bytes)
      const number = numberOf(one, key)
      expect(number).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
      expect(numberOf(other, key) === number).toBe(one === other)
    })
  )
})

test('numbers do not tell how many orders there are', () => {
  const numbers = Array.from({ length: 2_000 }, (_, value) => numberOf(value, KEY))
  expect(new Set(numbers).size).toBe(2_000)
  // About half of them are smaller than the one before, and every first character comes up.
  const falls = numbers.filter((number, index) => number < (numbers[index - 1] ?? '')).length
  expect(falls).toBeGreaterThan(800)
  expect(falls).toBeLessThan(1_200)
  expect(new Set(numbers.map(number => number[0])).size).toBe(32)
  expect(numberOf(7, Buffer.alloc(32, 'b'))).not.toBe(numberOf(7, KEY))
})

test('the first and the last of all are as good as any', () => {
  const ends = [0, 1, LAST - 1, LAST].map(value => permute(value, KEY, 20))
  expect(new Set(ends).size).toBe(4)
  for (const value of ends) expect(value).toBeLessThanOrEqual(LAST)
})
