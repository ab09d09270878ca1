import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, nullable, pageQuery, response } from '../../../kernel/wire.ts'
import { LocationCode } from '../locations/schema.ts'

/** What lists of stock can be narrowed down to. */
export const LevelQuery = input({
  ...pageQuery,
  variant_id: Type.Optional(Id),
  location: Type.Optional(LocationCode)
})
export type LevelQuery = Static<typeof LevelQuery>

export const LevelResponse = response('LevelResponse', {
  variant_id: Id,
  sku: nullable(Type.String()),
  location: Type.String({ description: 'The code of the location.' }),
  on_hand: Type.Integer({ description: 'Below 0 when more has left than was known to be there.' }),
  reserved: Type.Integer({ description: 'Of it, what is promised to carts and orders.' }),
  safety: Type.Integer({ description: 'Of it, what is not sold.' }),
  available: Type.Integer({ description: 'What is left to sell from here.' })
})
export type LevelResponse = Static<typeof LevelResponse>
