import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, nullable, pageQuery, request, response } from '../../../kernel/wire.ts'
import { LocationCode } from '../locations/schema.ts'

/** What lists of stock can be narrowed down to. */
export const LevelQuery = input({
  ...pageQuery,
  variant_id: Type.Optional(Id),
  location: Type.Optional(LocationCode)
})
export type LevelQuery = Static<typeof LevelQuery>

/** Sums over many levels must stay numbers that everybody can read. */
const QUANTITY_MAX = 1_000_000_000
const Place = Type.Optional(LocationCode)
const Reason = line(500)

export const CountRequest = request('CountRequest', {
  on_hand: Type.Integer({
    minimum: -QUANTITY_MAX,
    maximum: QUANTITY_MAX,
    description: 'How many there are, those that are reserved included.'
  }),
  location: Place,
  safety: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: QUANTITY_MAX,
      description: 'So many are not sold; as before when left out.'
    })
  ),
  reason: Type.Optional(Reason),
  source_version: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Rises with each count of whoever counts: one that comes late changes nothing.'
    })
  )
})
export type CountRequest = Static<typeof CountRequest>

export const AdjustRequest = request('AdjustRequest', {
  variant_id: Id,
  delta: Type.Union([
    Type.Integer({ minimum: 1, maximum: QUANTITY_MAX, description: 'So many have come.' }),
    Type.Integer({ minimum: -QUANTITY_MAX, maximum: -1, description: 'So many are gone.' })
  ]),
  location: Place,
  reason: Reason
})
export type AdjustRequest = Static<typeof AdjustRequest>

const level = {
  variant_id: Id,
  sku: nullable(Type.String()),
  location: Type.String({ description: 'The code of the location.' }),
  on_hand: Type.Integer({ description: 'Below 0 when more has left than was known to be there.' }),
  reserved: Type.Integer({ description: 'Of it, what is promised to carts and orders.' }),
  safety: Type.Integer({ description: 'Of it, what is not sold.' }),
  available: Type.Integer({ description: 'What is left to sell from here.' })
}
export const LevelResponse = response('LevelResponse', level)
export type LevelResponse = Static<typeof LevelResponse>

export const CountedLevelResponse = response('CountedLevelResponse', {
  ...level,
  applied: Type.Boolean({ description: 'False: a count with a later `source_version` was here before.' }),
  short: Type.Boolean({
    description: 'More is promised now than is there, and nobody said that it may be owed.'
  })
})
export type CountedLevelResponse = Static<typeof CountedLevelResponse>
