import fc from 'fast-check'
import { expect, test } from 'vitest'
import { orderNumberOfSequenceValue, permuteByFeistelNetwork } from './order-number.ts'

const KEY = Buffer.alloc(32, 'a')
const LAST = 2 ** 40 - 1

test.each([1, 2, 3, 6])(
  'permuting the numbers below 4 to the power of %i yields each number once',
  halfBits => {
    const size = 4 ** halfBits
    const given = Array.from({ length: size }, (_, value) => permuteByFeistelNetwork(value, KEY, halfBits))
    expect(new Set(given).size).toBe(size)
    expect(Math.min(...given)).toBe(0)
    expect(Math.max(...given)).toBe(size - 1)
  }
)

test('order numbers are unique and have 8 unambiguous characters', () => {
  const value = fc.integer({ min: 0, max: LAST })
  fc.assert(
    fc.property(value, value, fc.uint8Array({ minLength: 32, maxLength: 32 }), (one, other, bytes) => {
      const key = Buffer.from(bytes)
      const number = orderNumberOfSequenceValue(one, key)
      expect(number).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
      expect(orderNumberOfSequenceValue(other, key) === number).toBe(one === other)
    })
  )
})

test('order numbers do not reveal the number of orders', () => {
  const numbers = Array.from({ length: 2_000 }, (_, value) => orderNumberOfSequenceValue(value, KEY))
  expect(new Set(numbers).size).toBe(2_000)
  // About half are smaller than their predecessor, and every first character occurs.
  const falls = numbers.filter((number, index) => number < (numbers[index - 1] ?? '')).length
  expect(falls).toBeGreaterThan(800)
  expect(falls).toBeLessThan(1_200)
  expect(new Set(numbers.map(number => number[0])).size).toBe(32)
  expect(orderNumberOfSequenceValue(7, Buffer.alloc(32, 'b'))).not.toBe(orderNumberOfSequenceValue(7, KEY))
})

test('the first and the last sequence value have valid order numbers', () => {
  const ends = [0, 1, LAST - 1, LAST].map(value => permuteByFeistelNetwork(value, KEY, 20))
  expect(new Set(ends).size).toBe(4)
  for (const value of ends) expect(value).toBeLessThanOrEqual(LAST)
})
