import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, line, nullable, patchRequest, request, response, Time, Version } from '../../../kernel/wire.ts'

const URL_LENGTH_MAX = 2_048
const EVENT_TYPES_MAX = 200
const OVERLAP_HOURS_MAX = 168

const Url = line(
  URL_LENGTH_MAX,
  'URL that webhooks are sent to. It needs https and a public host, and must not contain a user or password.'
)
const EventTypes = nullable(
  Type.Array(line(100), {
    description:
      'Event types that are sent to the endpoint, such as orders.placed. Null: all, including those of later versions.',
    minItems: 1,
    maxItems: EVENT_TYPES_MAX,
    uniqueItems: true
  })
)
const Description = Type.String({ maxLength: 500, description: 'Your note on the endpoint.' })
const Active = { description: 'False: no events are sent or stored for the endpoint.' }

export const CreateWebhookEndpointRequest = request('CreateWebhookEndpointRequest', {
  url: Url,
  event_types: Type.Optional(EventTypes),
  description: Type.Optional(Description),
  active: Type.Optional(Type.Boolean({ default: true, ...Active }))
})
export type CreateWebhookEndpointRequest = Static<typeof CreateWebhookEndpointRequest>
export const UpdateWebhookEndpointRequest = patchRequest('UpdateWebhookEndpointRequest', {
  url: Url,
  event_types: EventTypes,
  description: Description,
  active: Type.Boolean(Active)
})
export type UpdateWebhookEndpointRequest = Static<typeof UpdateWebhookEndpointRequest>

export const RotateWebhookSecretRequest = request('RotateWebhookSecretRequest', {
  overlap_hours: Type.Optional(
    Type.Integer({
      description: 'Hours during which the previous secret also signs. 0: it stops signing immediately.',
      minimum: 0,
      maximum: OVERLAP_HOURS_MAX,
      default: 24
    })
  )
})
export type RotateWebhookSecretRequest = Static<typeof RotateWebhookSecretRequest>

const endpointFields = {
  id: Id,
  url: Type.String(),
  description: Type.String(),
  event_types: nullable(Type.Array(Type.String(), { description: 'Null: all event types.' })),
  active: Type.Boolean(Active),
  disabled_reason: nullable(
    Type.Enum(['failing', 'gone'], {
      description:
        'Why the shop disabled the endpoint. failing: every delivery failed for `webhooks.disable_after_days`. gone: it responded with 410.'
    })
  ),
  failing_since: nullable({
    ...Time,
    description: 'Time of the first failure after the last success. Null: the last delivery succeeded.'
  }),
  previous_until: nullable({ ...Time, description: 'Until then the previous secret also signs.' }),
  version: Version,
  created_at: Time
}
export const WebhookEndpointResponse = response('WebhookEndpointResponse', endpointFields)
export type WebhookEndpointResponse = Static<typeof WebhookEndpointResponse>
export const WebhookEndpointSecretResponse = response('WebhookEndpointSecretResponse', {
  ...endpointFields,
  secret: Type.String({
    description: 'Secret by which the receiver verifies signatures. It is not returned again, so store it.'
  })
})
export type WebhookEndpointSecretResponse = Static<typeof WebhookEndpointSecretResponse>
