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
  owner: Type.String({ format: 'uuid', description: 'The order that the units are reserved for.' }),
  variant_id: Id,
  location: Type.String({ description: 'The code of the location.' }),
  quantity: Type.Integer(),
  fulfilled: Type.Integer({ description: 'Units shipped.' }),
  state: Type.Enum(['held', 'claimed', 'confirmed', 'closed'], {
    description:
      '`held`: until it expires. `claimed`: for an unpaid order. `confirmed`: for a paid order. `closed`: shipped or released.'
  }),
  expires_at: nullable(Time)
})
export type ReservationResponse = Static<typeof ReservationResponse>
