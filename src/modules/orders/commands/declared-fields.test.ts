import { expect, test } from 'vitest'
import { Type } from '../../../kernel/schema.ts'
import { nullable, Time } from '../../../kernel/wire.ts'
import { keepDeclaredFields } from './declared-fields.ts'

test('responses to other modules keep only the members that the schema declares, at any depth', () => {
  const at = new Date(0)
  const schema = Type.Object({
    at: Time,
    lines: Type.Array(Type.Object({ id: Type.Integer() })),
    option: nullable(Type.Object({ id: Type.String() })),
    none: nullable(Type.Object({ id: Type.String() })),
    attributes: Type.Record(Type.String({ pattern: '^' }), Type.String())
  })
  const declared = { at, lines: [{ id: 1 }], option: { id: 'a' }, none: null, attributes: { Size: 'L' } }
  const value = {
    ...declared,
    mailbox: 'hash',
    lines: [{ id: 1, order_id: 'x' }],
    option: { id: 'a', key: 'x' }
  }
  expect(keepDeclaredFields(schema, value)).toEqual(declared)
})
