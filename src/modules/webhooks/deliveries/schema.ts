import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, nullable, pageQuery, request, response, Time } from '../../../kernel/wire.ts'
import { STATUSES } from './repository.ts'

export const DeliveryQuery = input({
  ...pageQuery,
  endpoint_id: Type.Optional(Id),
  type: Type.Optional(line(100, 'The name of an event.')),
  status: Type.Optional(Type.Enum([...STATUSES]))
})
export type DeliveryQuery = Static<typeof DeliveryQuery>

const shown = {
  id: { ...Id, description: 'What is sent as webhook-id, the same in every try.' },
  endpoint_id: Id,
  event_id: Id,
  type: Type.String(),
  status: Type.Enum([...STATUSES], {
    description:
      'dead: tried in vain, and not tried any more. superseded: something newer is told instead. canceled: its endpoint was deleted.'
  }),
  tries: Type.Integer({ description: 'Since it was made, or asked for again.' }),
  due_at: nullable({ ...Time, description: 'When it is tried next.' }),
  created_at: Time,
  settled_at: nullable(Time)
}
export const DeliveryResponse = response('WebhookDeliveryResponse', shown)
export type DeliveryResponse = Static<typeof DeliveryResponse>
export const DeliveryDetailsResponse = response('WebhookDeliveryDetailsResponse', {
  ...shown,
  body: Type.String({ description: 'What is sent, byte by byte.' }),
  attempts: Type.Array(
    Type.Object({
      at: Time,
      status_code: nullable(Type.Integer({ description: 'Null: there was no answer.' })),
      ms: Type.Integer(),
      error: nullable(Type.String({ description: 'Why it failed.' })),
      answer: nullable(Type.String({ description: 'The first 1,024 bytes that came back.' }))
    }),
    { description: 'The newest first.' }
  )
})
export type DeliveryDetailsResponse = Static<typeof DeliveryDetailsResponse>

export const ReplayRequest = request('ReplayWebhooksRequest', {
  since: Type.String({ format: 'date-time' }),
  which: Type.Optional(
    Type.Enum(['dead', 'all'], {
      default: 'dead',
      description: 'dead: what was tried in vain. all: also what had arrived; receivers know it by its id.'
    })
  )
})
export type ReplayRequest = Static<typeof ReplayRequest>
