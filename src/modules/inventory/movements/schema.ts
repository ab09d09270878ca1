import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, nullable, pageQuery, response, Time } from '../../../kernel/wire.ts'
import { StockLocationCode } from '../locations/schema.ts'

export const StockMovementQuery = input({
  ...pageQuery,
  variant_id: Type.Optional(Id),
  location: Type.Optional(StockLocationCode)
})
export type StockMovementQuery = Static<typeof StockMovementQuery>

const MovementKind = Type.Enum(
  ['balance', 'count', 'adjust', 'reserve', 'release', 'ship', 'unship', 'return', 'repair'],
  {
    description:
      'Kind of movement. `unship`: a shipment was voided. `balance`: the sum of this and all earlier movements, which were deleted because of their age.'
  }
)
export const StockMovementResponse = response('MovementResponse', {
  variant_id: Id,
  location: Type.String({ description: 'The code of the location.' }),
  seq: Type.Integer({
    description:
      'Number of the movement of this variant at this location, without gaps. The first is 1, or a `balance`.'
  }),
  kind: MovementKind,
  on_hand_delta: Type.Integer({
    description: 'Change of the units on hand. 0 in a `count`: it changed the safety stock only.'
  }),
  reserved_delta: Type.Integer({ description: 'Change of the reserved units.' }),
  on_hand_after: Type.Integer({ description: 'Units on hand after the movement.' }),
  reserved_after: Type.Integer({ description: 'Reserved units after the movement.' }),
  owner: nullable(
    Type.String({ format: 'uuid', description: 'The order of the reservation. Null: it concerns none.' })
  ),
  actor: nullable(
    Type.String({
      format: 'uuid',
      description: 'The administrator who made the change. Null: the shop itself.'
    })
  ),
  reason: nullable(Type.String()),
  reference: nullable(Type.String()),
  at: Time
})
export type StockMovementResponse = Static<typeof StockMovementResponse>
