import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, nullable, pageQuery, response, Time } from '../../../kernel/wire.ts'
import { LocationCode } from '../locations/schema.ts'

export const MovementQuery = input({
  ...pageQuery,
  variant_id: Id,
  location: Type.Optional(LocationCode)
})
export type MovementQuery = Static<typeof MovementQuery>

const MovementKind = Type.Enum(
  ['count', 'adjust', 'reserve', 'release', 'ship', 'unship', 'return', 'repair'],
  { description: '`unship`: what was shipped never left.' }
)
export const MovementResponse = response('MovementResponse', {
  variant_id: Id,
  location: Type.String({ description: 'The code of the location.' }),
  seq: Type.Integer({ description: 'Of this variant at this location: one more than the one before.' }),
  kind: MovementKind,
  on_hand_delta: Type.Integer(),
  reserved_delta: Type.Integer(),
  on_hand_after: Type.Integer(),
  reserved_after: Type.Integer(),
  owner: nullable(Type.String({ format: 'uuid', description: 'Whose reservation it was.' })),
  actor: nullable(Type.String({ format: 'uuid', description: 'Who did it, if an administrator did.' })),
  reason: nullable(Type.String()),
  reference: nullable(Type.String()),
  at: Time
})
export type MovementResponse = Static<typeof MovementResponse>
