import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, nullable, pageQuery, response, Time } from '../../../kernel/wire.ts'

const State = Type.Enum(['held', 'claimed', 'confirmed', 'closed'])

export const ReservationQuery = input({
  ...pageQuery,
  owner: Type.Optional(Id),
  variant_id: Type.Optional(Id),
  state: Type.Optional(State)
})
export type ReservationQuery = Static<typeof ReservationQuery>

export const ReservationResponse = response('ReservationResponse', {
  owner: Type.String({ format: 'uuid', description: 'What it is held for: a checkout or an order.' }),
  variant_id: Id,
  location: Type.String({ description: 'The code of the location.' }),
  quantity: Type.Integer(),
  fulfilled: Type.Integer({ description: 'Of it, what has left.' }),
  state: Type.Enum(['held', 'claimed', 'confirmed', 'closed'], {
    description:
      'Held until it expires; claimed by an order; confirmed when that is paid; closed when all is done.'
  }),
  expires_at: nullable(Time)
})
export type ReservationResponse = Static<typeof ReservationResponse>
