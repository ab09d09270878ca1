import { expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import {
  expandEachPlaceholderSql,
  json,
  orderedParameterValues,
  statement,
  toPositionalParameters
} from './statement.ts'

const two = { name: 'test.two', takes: { cartId: 'uuid', variantId: 'uuid' } } as const

test('named parameters of a statement are numbered in their declared order, wherever they occur in the text', () => {
  const text = 'delete from cart.items where variant_id = $variantId and cart_id = $cartId or $cartId is null'
  expect(toPositionalParameters({ ...two, text })).toBe(
    'delete from cart.items where variant_id = $2 and cart_id = $1 or $1 is null'
  )
})

test('a statement whose SQL text and declared parameters differ is rejected', () => {
  expect(() => toPositionalParameters({ ...two, text: 'select $cartId, $variant' })).toThrow('names $variant')
  expect(() => toPositionalParameters({ ...two, text: 'select $cartId' })).toThrow(
    'takes variantId and does not use it'
  )
  expect(() => statement({ name: 'test.unknown', text: 'select $id' })).toThrow('names $id')
})

test('arrays of ids and integers are sent as the text that PostgreSQL reads', () => {
  const values = (ids: string[], counts: number[]) =>
    orderedParameterValues(
      { name: 'test.arrays', takes: { ids: 'uuid[]', counts: 'int4[]' } },
      { ids, counts }
    )
  const [a, b] = [newId(), newId()]
  expect(values([a, b], [1, -2])).toEqual([`{${a},${b}}`, '{1,-2}'])
  expect(values([], [])).toEqual(['{}', '{}'])
  // Joined, it would be two ids. The client quotes it, and PostgreSQL rejects it.
  expect(values([`${a},${b}`], [])).toEqual([[`${a},${b}`], '{}'])
})

test('statement parameters are assigned by name, so their order cannot swap two ids', () => {
  const [cartId, variantId] = ['a', 'b']
  expect(orderedParameterValues(two, { variantId, cartId })).toEqual(['a', 'b'])
  expect(() => orderedParameterValues(two, { cartId })).toThrow('test.two lacks variantId')
})

test('a statement parameter can be null, and JSON values and lists are serialized', () => {
  const takes = { a: 'uuid?', b: 'jsonb', c: 'jsonb?', d: json<{ e: number }[]>() } as const
  expect(
    orderedParameterValues({ name: 'test.json', takes }, { a: null, b: 'text', c: null, d: [{ e: 1 }] })
  ).toEqual([null, '"text"', null, '[{"e":1}]'])
})

test('a forEach statement takes the rows of all callers and returns each row with its position', () => {
  const declaration = {
    name: 'test.each',
    takes: { id: 'uuid', note: 'jsonb?' },
    gives: { at: 'int8' },
    text: 'select at from $each where id is not null or note is not null'
  } as const
  expect(expandEachPlaceholderSql(declaration)).toBe(
    `select at from rows from (jsonb_to_recordset($1) as (id uuid, note jsonb)) with ordinality as each (id, note, at) ` +
      'where id is not null or note is not null'
  )
  const given = { id: 'a', note: { b: [1] } }
  const wider = { ...given, ignored: 'not a column' }
  for (const row of [given, wider])
    expect(orderedParameterValues({ ...declaration, isForEach: true }, row)).toEqual([
      '[{"id":"a","note":{"b":[1]}}]'
    ])
  expect(() => orderedParameterValues({ ...declaration, isForEach: true }, { id: 'a' })).toThrow(
    'test.each lacks note'
  )
  expect(() => expandEachPlaceholderSql({ ...declaration, gives: {} })).toThrow('test.each must return at')
  expect(() => expandEachPlaceholderSql({ ...declaration, text: 'select at, id from $each' })).toThrow(
    'takes note and does not use it'
  )
  expect(() => expandEachPlaceholderSql({ ...declaration, takes: { id: 'bytea', note: 'jsonb?' } })).toThrow(
    'takes bytes'
  )
})

test('a statement declared as both slow and writing is rejected', () => {
  const text = 'delete from cart.carts'
  expect(() => statement({ name: 'test.slow_write', slow: true, text })).toThrow('test.slow_write writes')
})

test('a duplicate statement name, or one that PostgreSQL would truncate, is rejected', () => {
  statement({ name: 'test.once', text: 'select 1' })
  expect(() => statement({ name: 'test.once', text: 'select 2' })).toThrow(
    'two statements are called test.once'
  )
  expect(() => statement({ name: 'x'.repeat(64), text: 'select 1' })).toThrow(RangeError)
})
