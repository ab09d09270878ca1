import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addMissingMetadataKeys,
  assertCustomerWrittenMetadataBytes,
  CUSTOMER_WRITTEN_METADATA_BYTES_MAX,
  LINE_METADATA_KEYS_MAX,
  METADATA_KEYS_MAX,
  type Metadata,
  mergeChangeIntoLineMetadata,
  mergeMetadata,
  metadataEqualityKey
} from './metadata.ts'

const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter(each => each !== '__proto__')
const stored = fc.dictionary(key, fc.string({ minLength: 1, maxLength: 20 }), { maxKeys: 20 })
const change = fc.dictionary(key, fc.option(fc.string({ maxLength: 20 })), { maxKeys: 20 })
const many = (count: number, prefix = 'k'): Metadata =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'v']))
const limit = expect.objectContaining({ code: 'METADATA_LIMIT' })

describe('a change of metadata', () => {
  test('a change of metadata sets and deletes the sent keys, and keeps all others', () => {
    fc.assert(
      fc.property(stored, change, (before, sent) => {
        const after = mergeMetadata(before, sent)
        for (const name of new Set([...Object.keys(before), ...Object.keys(sent)])) {
          const expected = Object.hasOwn(sent, name) ? sent[name] || undefined : before[name]
          expect(Object.hasOwn(after, name) ? after[name] : undefined).toBe(expected)
        }
        expect(Object.values(after)).not.toContain('')
      })
    )
  })

  test('a change of metadata that is sent again changes nothing more', () => {
    fc.assert(
      fc.property(stored, change, (before, sent) => {
        const after = mergeMetadata(before, sent)
        expect(mergeMetadata(after, sent)).toEqual(after)
      })
    )
  })

  test('a change of metadata is rejected when more keys than the limit are left', () => {
    const full = many(METADATA_KEYS_MAX)
    expect(() => mergeMetadata(full, { other: 'v' })).toThrow(limit)
    expect(mergeMetadata(full, { other: 'v', k0: null })).toMatchObject({ other: 'v' })
  })

  test('a change of metadata is rejected when more bytes than the limit are left', () => {
    const long = Object.fromEntries(Object.keys(many(32)).map(name => [name, 'x'.repeat(499)]))
    expect(mergeMetadata(long, {}, CUSTOMER_WRITTEN_METADATA_BYTES_MAX)).toEqual(long)
    expect(() =>
      mergeMetadata(long, { other: 'x'.repeat(499) }, CUSTOMER_WRITTEN_METADATA_BYTES_MAX)
    ).toThrow(limit)
  })
})

test('the metadata of a line is changed like other metadata, and has at most ten keys', () => {
  const full = many(LINE_METADATA_KEYS_MAX)
  expect(mergeChangeIntoLineMetadata(full, { k0: null, other: 'v', k1: '' })).toEqual({
    ...Object.fromEntries(Object.entries(full).slice(2)),
    other: 'v'
  })
  expect(() => mergeChangeIntoLineMetadata(full, { other: 'v' })).toThrow(limit)
})

test('the key of metadata is equal for equal metadata in any order of its keys, and only then', () => {
  fc.assert(
    fc.property(stored, stored, (one, other) => {
      const reversed = Object.fromEntries(Object.entries(one).reverse())
      expect(metadataEqualityKey(reversed)).toBe(metadataEqualityKey(one))
      const isSame = Object.keys({ ...one, ...other }).every(name => one[name] === other[name])
      expect(metadataEqualityKey(one) === metadataEqualityKey(other)).toBe(isSame)
    })
  )
  expect(metadataEqualityKey({})).toBe('')
  expect(metadataEqualityKey({ 'a,b': 'c', a: 'b' })).toBe(metadataEqualityKey({ a: 'b', 'a,b': 'c' }))
  expect(metadataEqualityKey({ 'a,b': 'c' })).not.toBe(metadataEqualityKey({ a: 'b,c' }))
})

test('the metadata of a cart counts with that of its lines for the limit in bytes', () => {
  const lines = Array.from({ length: 4 }, () => ({ metadata: { text: 'x'.repeat(4_000) } }))
  expect(() => assertCustomerWrittenMetadataBytes({}, lines)).not.toThrow()
  expect(() => assertCustomerWrittenMetadataBytes({ text: 'x'.repeat(400) }, lines)).toThrow(limit)
  expect(() => assertCustomerWrittenMetadataBytes({}, [{ metadata: { text: 'é'.repeat(8_200) } }])).toThrow(
    limit
  )
})

test('metadata gets the keys of other metadata that it lacks, as far as the limits allow', () => {
  expect(addMissingMetadataKeys({ a: '1' }, { a: '2', b: '3' }, CUSTOMER_WRITTEN_METADATA_BYTES_MAX)).toEqual(
    { a: '1', b: '3' }
  )
  const completed = addMissingMetadataKeys(many(40), many(40, 'other'), CUSTOMER_WRITTEN_METADATA_BYTES_MAX)
  expect(Object.keys(completed)).toEqual([...Object.keys(many(40)), ...Object.keys(many(10, 'other'))])
  const present = many(3)
  expect(addMissingMetadataKeys(present, present, CUSTOMER_WRITTEN_METADATA_BYTES_MAX)).toBe(present)
})
