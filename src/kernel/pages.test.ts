import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from './ids.ts'
import { decodeCursor, encodeCursor, newestFirst, readPage } from './pages.ts'

const shapeOf = (key: readonly (string | number)[]) =>
  key.map(part => (typeof part === 'number' ? 'number' : 'string'))
const anyText = fc.string({ unit: 'binary' }).filter(text => text.isWellFormed() && !text.includes('\0'))
const anyKey = fc.array(fc.oneof(anyText, fc.maxSafeInteger()), { minLength: 1, maxLength: 4 })

test('every sort key is read back from its page cursor', () => {
  fc.assert(
    fc.property(anyKey, key => {
      const cursor = encodeCursor(key)
      expect(cursor).toMatch(/^[\w-]+$/)
      // JSON has no negative zero, which sorts like zero.
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
])('a forged page cursor with %s is rejected', (_what, cursor) => {
  expect(() => decodeCursor(cursor, ['string', 'number'])).toThrow(
    expect.objectContaining({ kind: 'invalid', code: 'INVALID_CURSOR' })
  )
})

test('any text as a page cursor is rejected or decodes to the right shape', () => {
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

/** A list sorted by numbers, and by `ids` among equal ones. */
const numbers = (rows: readonly { id: string; key: number }[], filters?: unknown) => ({
  name: 'numbers',
  filters,
  start: { key: -1, id: newId() },
  placeOf: ({ id, key }: { id: string; key: number }) => ({ key, id }),
  rows: async ({ key, id, limit }: { key: number; id: string; limit: number }) =>
    rows.filter(row => row.key > key || (row.key === key && row.id > id)).slice(0, limit),
  total: async () => ({ total: rows.length })
})

test('the pages of a list, of any size, together are the whole list', async () => {
  const anyKeys = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(anyKeys, fc.integer({ min: 1, max: 20 }), async (keys, limit) => {
      const ids = keys.map(() => newId()).sort()
      const sorted = keys.toSorted((a, b) => a - b).map((key, index) => ({ id: String(ids[index]), key }))
      const seen: unknown[] = []
      let cursor: string | undefined
      for (let pages = 0; pages <= sorted.length; pages += 1) {
        const page = await readPage({ limit, ...(cursor !== undefined && { cursor }) }, numbers(sorted))
        expect(page.items.length).toBeLessThanOrEqual(limit)
        seen.push(...page.items)
        if (page.next_cursor === null) break
        cursor = page.next_cursor
      }
      expect(seen).toEqual(sorted)
    })
  )
})

const three = [1, 2, 3].map(key => ({ id: newId(), key }))

test('the last page of a list has no cursor, even when it is full, and the total is returned on request', async () => {
  expect(await readPage({}, numbers([]))).toEqual({ items: [], next_cursor: null })
  expect(await readPage({ limit: 3 }, numbers(three))).toEqual({ items: three, next_cursor: null })
  const page = await readPage({ limit: 2, count: true }, numbers(three))
  expect(page).toEqual({ items: three.slice(0, 2), next_cursor: expect.any(String), total: 3 })
})

test('a page cursor is valid only for the list that returned it, with the same filters', async () => {
  const cursor = String((await readPage({ limit: 1 }, numbers(three, ['red']))).next_cursor)
  const read = (list: ReturnType<typeof numbers>) => readPage({ limit: 1, cursor }, list)
  expect((await read(numbers(three, ['red']))).items).toEqual([three[1]])
  const refused = expect.objectContaining({ code: 'INVALID_CURSOR' })
  await expect(read(numbers(three, ['blue']))).rejects.toEqual(refused)
  await expect(read({ ...numbers(three, ['red']), name: 'others' })).rejects.toEqual(refused)
})

test('a page cursor whose last part is not an id is rejected before the database is queried', async () => {
  const list = { ...newestFirst, name: 'ids', rows: async () => three, total: async () => undefined }
  const { next_cursor } = await readPage({ limit: 1 }, list)
  const [fingerprint = ''] = decodeCursor(String(next_cursor), ['string', 'string'])
  const cursor = encodeCursor([fingerprint, 'no id'])
  await expect(readPage({ cursor }, list)).rejects.toMatchObject({ code: 'INVALID_CURSOR' })
})

test.each([
  [0, { total: 0 }],
  [1_000, { total: 1_000 }],
  [1_001, { total: 1_000, total_is_more: true }]
])('a list of %i counted rows returns the total %j', async (total, reported) => {
  const page = await readPage(
    { count: true },
    { name: 'rows', ...newestFirst, rows: async () => [] as { id: string }[], total: async () => ({ total }) }
  )
  expect(page).toEqual({ items: [], next_cursor: null, ...reported })
})
