import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addLine, type CartLine, setLine, withLines } from './lines.ts'

const limits = { lineQuantityMax: 99, linesMax: 3 }
const line = (variantId: string, quantity: number): CartLine => ({ variantId, quantity })
const someLines = fc.uniqueArray(
  fc.record({
    variantId: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    quantity: fc.integer({ min: 1, max: 99 })
  }),
  { selector: each => each.variantId }
)

test('adding creates a line, or increases the existing one', () => {
  expect(addLine([], line('a', 2), limits)).toEqual(line('a', 2))
  expect(addLine([line('b', 1), line('a', 2)], line('a', 3), limits)).toEqual(line('a', 5))
})

test('a line can reach its limit and not exceed it', () => {
  expect(addLine([line('a', 98)], line('a', 1), limits).quantity).toBe(99)
  expect(() => addLine([line('a', 98)], line('a', 2), limits)).toThrow(
    expect.objectContaining({ code: 'CART_QUANTITY_LIMIT', details: { limit: 99 } })
  )
  expect(setLine([line('a', 1)], line('a', 99), limits).quantity).toBe(99)
  expect(() => setLine([line('a', 1)], line('a', 100), limits)).toThrow(
    expect.objectContaining({ code: 'CART_QUANTITY_LIMIT' })
  )
})

test('a cart with the maximum of lines rejects a new line, and accepts a larger quantity', () => {
  const full = [line('a', 1), line('b', 1), line('c', 1)]
  expect(() => addLine(full, line('d', 1), limits)).toThrow(
    expect.objectContaining({ code: 'CART_LINE_LIMIT', details: { limit: 3 } })
  )
  expect(addLine(full, line('c', 1), limits)).toEqual(line('c', 2))
  expect(addLine(full.slice(1), line('d', 1), limits)).toEqual(line('d', 1))
})

test('setting a line that does not exist is rejected', () => {
  expect(() => setLine([line('a', 1)], line('b', 1), limits)).toThrow(
    expect.objectContaining({ code: 'CART_ITEM_NOT_FOUND' })
  )
})

test('changed lines keep their position, and new lines come last in their order', () => {
  fc.assert(
    fc.property(someLines, someLines, (lines, set) => {
      const result = withLines(lines, set)
      const had = lines.map(each => each.variantId)
      const news = set.map(each => each.variantId).filter(id => !had.includes(id))
      expect(result.map(each => each.variantId)).toEqual([...had, ...news])
      for (const each of result) {
        const wanted = set.find(other => other.variantId === each.variantId)
        expect(each).toEqual(wanted ?? lines.find(other => other.variantId === each.variantId))
      }
    })
  )
})
