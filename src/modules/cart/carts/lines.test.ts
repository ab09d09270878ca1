import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addCartLine, type CartLine, setCartLine, withUpsertedCartLines } from './lines.ts'

const limits = { lineQuantityMax: 99, linesMax: 3 }
const line = (variantId: string, quantity: number): CartLine => ({ variantId, quantity })
const someLines = fc.uniqueArray(
  fc.record({
    variantId: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    quantity: fc.integer({ min: 1, max: 99 })
  }),
  { selector: each => each.variantId }
)

test('adding an item to a cart creates a line, or increases the existing one', () => {
  expect(addCartLine([], line('a', 2), limits)).toEqual(line('a', 2))
  expect(addCartLine([line('b', 1), line('a', 2)], line('a', 3), limits)).toEqual(line('a', 5))
})

test('a cart line can reach its quantity limit and not exceed it', () => {
  expect(addCartLine([line('a', 98)], line('a', 1), limits).quantity).toBe(99)
  expect(() => addCartLine([line('a', 98)], line('a', 2), limits)).toThrow(
    expect.objectContaining({ code: 'CART_QUANTITY_LIMIT', details: { limit: 99 } })
  )
  expect(setCartLine([line('a', 1)], line('a', 99), limits).quantity).toBe(99)
  expect(() => setCartLine([line('a', 1)], line('a', 100), limits)).toThrow(
    expect.objectContaining({ code: 'CART_QUANTITY_LIMIT' })
  )
})

test('a cart with the maximum of lines rejects a new line, and accepts a larger quantity', () => {
  const full = [line('a', 1), line('b', 1), line('c', 1)]
  expect(() => addCartLine(full, line('d', 1), limits)).toThrow(
    expect.objectContaining({ code: 'CART_LINE_LIMIT', details: { limit: 3 } })
  )
  expect(addCartLine(full, line('c', 1), limits)).toEqual(line('c', 2))
  expect(addCartLine(full.slice(1), line('d', 1), limits)).toEqual(line('d', 1))
})

test('setting the quantity of a cart line that does not exist is rejected', () => {
  expect(() => setCartLine([line('a', 1)], line('b', 1), limits)).toThrow(
    expect.objectContaining({ code: 'CART_ITEM_NOT_FOUND' })
  )
})

test('changed cart lines keep their position, and new lines come last in their order', () => {
  fc.assert(
    fc.property(someLines, someLines, (lines, set) => {
      const result = withUpsertedCartLines(lines, set)
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
