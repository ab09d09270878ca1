import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineEqualityKey, type Metadata } from '../../../kernel/metadata.ts'
import {
  addCartLine,
  type CartLine,
  countDistinctCartVariants,
  patchCartLine,
  quantityOfVariant,
  removeCartLine,
  removeOnlyCartLineOfVariant,
  setCartVariantQuantity,
  variantQuantityOfEachLine,
  withUpsertedCartLines
} from './lines.ts'

const limits = { lineQuantityMax: 99, linesMax: 3 }
const line = (variantId: string, quantity: number, metadata: Metadata = {}): CartLine => ({
  id: `${variantId}${metadata.text ?? ''}`,
  variantId,
  quantity,
  metadata
})
const engraved = (variantId: string, text: string, quantity = 1) => line(variantId, quantity, { text })
const withCode = (code: string, details?: object) =>
  expect.objectContaining({ code, ...(details && { details }) })

const someLines = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('', 'x', 'y'), fc.integer({ min: 1, max: 99 }))
    .map(([variantId, text, quantity]) => line(variantId, quantity, text === '' ? {} : { text })),
  { selector: lineEqualityKey }
)

describe('adding an item', () => {
  test('adding an item to a cart creates a line, or increases the equal one', () => {
    expect(addCartLine([], line('a', 2), limits)).toEqual({
      lines: [line('a', 2)],
      set: [line('a', 2)],
      removed: []
    })
    const added = { ...line('a', 3), id: 'new' }
    expect(addCartLine([line('b', 1), line('a', 2)], added, limits)).toEqual({
      lines: [line('b', 1), line('a', 5)],
      set: [line('a', 5)],
      removed: []
    })
  })

  test('adding an item with other metadata creates another line of its variant', () => {
    const present = [line('a', 1), engraved('a', 'Ada')]
    expect(addCartLine(present, engraved('a', 'Bob'), limits).lines).toEqual([
      ...present,
      engraved('a', 'Bob')
    ])
    const both = { ...line('a', 1), id: 'both', metadata: { text: 'Ada', color: 'red' } }
    const reversed = { ...line('a', 2), id: 'new', metadata: { color: 'red', text: 'Ada' } }
    expect(addCartLine([both], reversed, limits).lines).toEqual([{ ...both, quantity: 3 }])
  })

  test('the lines of a variant can reach the quantity limit together and not exceed it', () => {
    expect(addCartLine([line('a', 98)], line('a', 1), limits).set).toEqual([line('a', 99)])
    const exceeded = withCode('CART_QUANTITY_LIMIT', { limit: 99 })
    expect(() => addCartLine([line('a', 98)], line('a', 2), limits)).toThrow(exceeded)
    const two = [line('a', 50), engraved('a', 'Ada', 40), line('b', 99)]
    expect(addCartLine(two, line('a', 9), limits).lines).toHaveLength(3)
    expect(() => addCartLine(two, line('a', 10), limits)).toThrow(exceeded)
  })

  test('a cart with the maximum of lines rejects a new line, and accepts a larger quantity', () => {
    const full = [line('a', 1), engraved('a', 'Ada'), line('c', 1)]
    const rejected = withCode('CART_LINE_LIMIT', { limit: 3 })
    expect(() => addCartLine(full, line('d', 1), limits)).toThrow(rejected)
    expect(() => addCartLine(full, engraved('a', 'Bob'), limits)).toThrow(rejected)
    expect(addCartLine(full, line('c', 1), limits).set).toEqual([line('c', 2)])
    expect(addCartLine(full.slice(1), line('d', 1), limits).set).toEqual([line('d', 1)])
  })
})

describe('a change by variant', () => {
  const set = (lines: readonly CartLine[], variantId: string, quantity: number) =>
    setCartVariantQuantity(lines, { variantId, quantity }, limits)

  test('setting the quantity of a variant changes its only line', () => {
    expect(set([line('b', 1), engraved('a', 'Ada')], 'a', 99)).toEqual({
      lines: [line('b', 1), engraved('a', 'Ada', 99)],
      set: [engraved('a', 'Ada', 99)],
      removed: []
    })
    expect(() => set([line('a', 1)], 'a', 100)).toThrow(withCode('CART_QUANTITY_LIMIT'))
    expect(() => set([line('a', 1)], 'b', 1)).toThrow(withCode('CART_ITEM_NOT_FOUND'))
  })

  test('removing a variant removes its only line, and ignores a variant that is not in the cart', () => {
    expect(removeOnlyCartLineOfVariant([line('a', 1), line('b', 1)], 'a')).toMatchObject({ removed: ['a'] })
    expect(removeOnlyCartLineOfVariant([line('a', 1)], 'b')).toMatchObject({
      lines: [line('a', 1)],
      removed: []
    })
  })

  test('a change by variant is rejected when the cart has several lines of the variant', () => {
    const two = [line('a', 1), engraved('a', 'Ada')]
    expect(() => set(two, 'a', 2)).toThrow(withCode('CART_LINE_AMBIGUOUS'))
    expect(() => removeOnlyCartLineOfVariant(two, 'a')).toThrow(withCode('CART_LINE_AMBIGUOUS'))
  })
})

describe('a change of one line', () => {
  const two = [line('a', 3), engraved('a', 'Ada', 2)]

  test('a change of a line sets its quantity and merges its metadata', () => {
    expect(patchCartLine(two, 'a', { quantity: 5 }, limits).lines).toEqual([line('a', 5), two[1]])
    const changed = patchCartLine(two, 'aAda', { metadata: { text: null, color: 'red' } }, limits)
    expect(changed.set).toEqual([{ ...two[1], metadata: { color: 'red' } }])
    expect(patchCartLine(two, 'a', {}, limits)).toEqual({ lines: two, set: [], removed: [] })
  })

  test.each([
    ['a', { metadata: { text: 'Ada' } }],
    ['aAda', { metadata: { text: null } }]
  ])('line %s becomes one with the equal line, with the id of the older', (id, patch) => {
    const metadata = id === 'a' ? { text: 'Ada' } : {}
    const merged = { ...line('a', 5), metadata }
    expect(patchCartLine(two, id, patch, limits)).toEqual({
      lines: [merged],
      set: [merged],
      removed: ['aAda']
    })
  })

  test('the quantity of a line is limited together with the other lines of its variant', () => {
    expect(patchCartLine(two, 'a', { quantity: 97 }, limits).set).toEqual([line('a', 97)])
    expect(() => patchCartLine(two, 'a', { quantity: 98 }, limits)).toThrow(withCode('CART_QUANTITY_LIMIT'))
  })

  test('the metadata of a line can be changed when a lower limit came later', () => {
    const { set } = patchCartLine(two, 'a', { metadata: { text: 'Bob' } }, { ...limits, lineQuantityMax: 4 })
    expect(set).toEqual([{ ...line('a', 3), metadata: { text: 'Bob' } }])
  })

  test('changing and removing a line that is not in the cart is rejected', () => {
    expect(() => patchCartLine(two, 'b', { quantity: 1 }, limits)).toThrow(withCode('CART_LINE_NOT_FOUND'))
    expect(() => removeCartLine(two, 'b')).toThrow(withCode('CART_LINE_NOT_FOUND'))
    expect(removeCartLine(two, 'a')).toEqual({ lines: [two[1]], set: [], removed: ['a'] })
  })
})

test('the quantities of variants and their number are those of all lines together', () => {
  fc.assert(
    fc.property(someLines, lines => {
      expect(variantQuantityOfEachLine(lines)).toEqual(
        lines.map(({ variantId }) => quantityOfVariant(lines, variantId))
      )
      expect(countDistinctCartVariants(lines)).toBe(new Set(lines.map(({ variantId }) => variantId)).size)
    })
  )
})

test('changed cart lines keep their position, and new lines come last in their order', () => {
  fc.assert(
    fc.property(someLines, someLines, (lines, set) => {
      const result = withUpsertedCartLines(lines, set)
      const had = lines.map(each => each.id)
      const news = set.map(each => each.id).filter(id => !had.includes(id))
      expect(result.map(each => each.id)).toEqual([...had, ...news])
      for (const each of result) {
        const wanted = set.find(other => other.id === each.id)
        expect(each).toEqual(wanted ?? lines.find(other => other.id === each.id))
      }
    })
  )
})
