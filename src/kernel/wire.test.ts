import { expect, test } from 'vitest'
import { compileSchema } from './compile-schema.ts'
import { Type } from './schema.ts'
import { Id, listOf, nullable, patchRequest, request, response } from './wire.ts'

const fields = { name: Type.String({ minLength: 1 }), owner_id: nullable(Id) }

test('the schema of a request body rejects unknown members', () => {
  const errorsOf = compileSchema(request('NewWishRequest', fields))
  expect(errorsOf({ name: 'a', owner_id: null })).toEqual([])
  expect(errorsOf({ name: 'a' })).toMatchObject([{ keyword: 'required' }])
  expect(errorsOf({ name: 'a', owner_id: null, more: 1 })).toMatchObject([
    { keyword: 'additionalProperties' }
  ])
})

test('the schema of a PATCH body accepts any subset of the members, under the same rules', () => {
  const errorsOf = compileSchema(patchRequest('UpdateWishRequest', fields))
  for (const body of [{}, { name: 'a' }, { owner_id: null }]) expect(errorsOf(body)).toEqual([])
  for (const body of [{ name: '' }, { owner_id: 'x' }, { more: 1 }]) expect(errorsOf(body)).toHaveLength(1)
})

test.each([
  ['text', nullable(Type.String({ maxLength: 1 })), 'a', 'ab'],
  ['an id', nullable(Id), '0191d3f0-0000-7000-8000-000000000000', 'x'],
  ['a word', nullable(Type.Enum(['a', 'b'])), 'a', 'c'],
  ['an object', nullable(response('WishResponse', fields)), { name: 'a', owner_id: null }, {}]
])('a nullable schema of %s accepts that type and null only', (_what, schema, good, bad) => {
  const errorsOf = compileSchema(schema)
  expect([errorsOf(null), errorsOf(good)]).toEqual([[], []])
  expect(errorsOf(bad)).not.toEqual([])
})

test('the schema of a list response is named after its items', () => {
  expect(listOf(response('WishResponse', fields))).toMatchObject({ title: 'WishListResponse' })
})
