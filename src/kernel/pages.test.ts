import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeCursor, encodeCursor, pageOf } from './pages.ts'

const shapeOf = (key: readonly (string | number)[]) =>
  key.map(part => (typeof part === 'number' ? 'number' : 'string'))
const anyText = fc.string({ unit: 'binary' }).filter(text => text.isWellFormed() && !text.includes('\0'))
const anyKey = fc.array(fc.oneof(anyText, fc.maxSafeInteger()), { minLength: 1, maxLength: 4 })

test('every key is read back from its cursor', () => {
  fc.assert(
    fc.property(anyKey, key => {
      const cursor = encodeCursor(key)
      expect(cursor).toMatch(/^[\w-]+$/)
      // JSON has no negative zero, and it sorts like the other one.
      expect(decodeCursor(cursor, shapeOf(key))).toEqual(key.map(part => (part === 0 ? 0 : part)))
    })
  )
})

const forge = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const lone = Buffer.from('["\\ud800",1]').toString('base64url')
const huge = Buffer.from('["a",1e999]').toString('base64url')

test.each([
  ['nothing', ''],
  ['no base64', '!!!'],
  ['no JSON', Buffer.from('{').toString('base64url')],
  ['an object', forge({ 0: 'a', 1: 1, length: 2 })],
  ['null', forge(null)],
  ['too few parts', forge(['a'])],
  ['too many parts', forge(['a', 1, 2])],
  ['the wrong types', forge([1, 'a'])],
  ['null inside', forge(['a', null])],
  ['a list inside', forge([['a'], 1])],
  ['a fraction', forge(['a', 1.5])],
  ['an unsafe integer', forge(['a', 2 ** 53])],
  ['infinity', huge],
  ['NUL', forge(['a\0', 1])],
  ['a lone surrogate', lone],
  ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x00]).toString('base64url')]
])('a forged cursor with %s is refused', (_what, cursor) => {
  expect(() => decodeCursor(cursor, ['string', 'number'])).toThrow(
    expect.objectContaining({ kind: 'invalid', code: 'INVALID_CURSOR' })
  )
})

test('whatever text comes as a cursor, it is refused or of the right shape', () => {
  const anyJson = fc.json().map(text => Buffer.from(text).toString('base64url'))
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), anyJson), cursor => {
      try {
        const key = decodeCursor(cursor, ['string', 'number'])
        expect([typeof key[0], typeof key[1]]).toEqual(['string', 'number'])
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_CURSOR' })
      }
    })
  )
})

test('pages cut anywhere are, put together, the whole list', () => {
  const anyRows = fc.uniqueArray(fc.integer({ min: 0, max: 1_000 }), { maxLength: 60 })
  fc.assert(
    fc.property(anyRows, fc.integer({ min: 1, max: 20 }), (rows, limit) => {
      const sorted = [...rows].sort((a, b) => a - b)
      const seen: number[] = []
      let after = -1
      for (let pages = 0; pages <= rows.length; pages += 1) {
        const found = sorted.filter(row => row > after).slice(0, limit + 1)
        const page = pageOf(
          found,
          limit,
          row => [row],
          row => row
        )
        expect(page.items.length).toBeLessThanOrEqual(limit)
        seen.push(...page.items)
        if (page.next_cursor === null) break
        after = decodeCursor(page.next_cursor, ['number'])[0] as number
      }
      expect(seen).toEqual(sorted)
    })
  )
})

test('the last page has no cursor, also when it is full', () => {
  const page = (rows: number[]) =>
    pageOf(
      rows,
      2,
      row => [row],
      row => `row ${row}`
    )
  expect(page([])).toEqual({ items: [], next_cursor: null })
  expect(page([1, 2])).toEqual({ items: ['row 1', 'row 2'], next_cursor: null })
  expect(page([1, 2, 3])).toEqual({ items: ['row 1', 'row 2'], next_cursor: encodeCursor([2]) })
})
