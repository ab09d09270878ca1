import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, nullable, pageQuery, request, response, Time } from '../../../kernel/wire.ts'
import { WEBHOOK_DELIVERY_STATUSES } from './repository.ts'

export const WebhookDeliveryQuery = input({
  ...pageQuery,
  endpoint_id: Type.Optional({ ...Id, description: 'Only deliveries to this endpoint.' }),
  type: Type.Optional(line(100, 'Only deliveries of this event type, such as `orders.placed`.')),
  status: Type.Optional(
    Type.Enum([...WEBHOOK_DELIVERY_STATUSES], { description: 'Only deliveries with this status.' })
  )
})
export type WebhookDeliveryQuery = Static<typeof WebhookDeliveryQuery>

const deliveryFields = {
  id: { ...Id, description: 'Sent as header `webhook-id`, the same in every attempt.' },
  endpoint_id: Id,
  event_id: { ...Id, description: 'Id of the event, the same for every endpoint.' },
  type: Type.String({ description: 'Event type, such as `orders.placed`, or `webhook.test`.' }),
  status: Type.Enum([...WEBHOOK_DELIVERY_STATUSES], {
    description:
      'pending: waits for its first attempt or for a retry. delivered: the endpoint responded with 2xx. dead: every attempt failed. superseded: a newer event of the same object is sent instead. canceled: its endpoint was deleted.'
  }),
  tries: Type.Integer({ description: 'Attempts since the delivery was created or replayed.' }),
  due_at: nullable({ ...Time, description: 'Time of the next attempt. Null unless it is pending.' }),
  created_at: Time,
  settled_at: nullable({ ...Time, description: 'Time of the final status. Null while it is pending.' })
}
export const WebhookDeliveryResponse = response('WebhookDeliveryResponse', deliveryFields)
export type WebhookDeliveryResponse = Static<typeof WebhookDeliveryResponse>
export const WebhookDeliveryDetailsResponse = response('WebhookDeliveryDetailsResponse', {
  ...deliveryFields,
  body: Type.String({ description: 'The exact request body, which the signature covers.' }),
  attempts: Type.Array(
    Type.Object({
      at: Time,
      status_code: nullable(Type.Integer({ description: 'HTTP status. Null: there was no response.' })),
      ms: Type.Integer({ description: 'Duration in milliseconds.' }),
      error: nullable(Type.String({ description: 'Why the attempt failed. Null: it succeeded.' })),
      answer: nullable(Type.String({ description: 'The first 1,024 bytes of the response body.' }))
    }),
    { description: 'The latest 100 attempts, newest first.' }
  )
})
export type WebhookDeliveryDetailsResponse = Static<typeof WebhookDeliveryDetailsResponse>

export const ReplayWebhooksRequest = request('ReplayWebhooksRequest', {
  since: Type.String({
    format: 'date-time',
    description: 'Replays deliveries created at or after this time.'
  }),
  which: Type.Optional(
    Type.Enum(['dead', 'all'], {
      default: 'dead',
      description:
        'dead: only deliveries that failed. all: also delivered and superseded ones, which receivers recognize by `webhook-id`.'
    })
  )
})
export type ReplayWebhooksRequest = Static<typeof ReplayWebhooksRequest>
