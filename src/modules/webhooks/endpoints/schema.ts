import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, line, nullable, patchRequest, request, response, Time, Version } from '../../../kernel/wire.ts'

const URL_LENGTH_MAX = 2_048
const EVENT_TYPES_MAX = 200
const OVERLAP_HOURS_MAX = 168

const Url = line(URL_LENGTH_MAX, 'Over https, at a public address, without a user or password in it.')
const EventTypes = nullable(
  Type.Array(line(100), {
    description:
      'Names of events, such as orders.placed: what it is told. null: all of them, and those that later versions add.',
    minItems: 1,
    maxItems: EVENT_TYPES_MAX,
    uniqueItems: true
  })
)
const Description = Type.String({ maxLength: 500 })

export const CreateEndpointRequest = request('CreateWebhookEndpointRequest', {
  url: Url,
  event_types: Type.Optional(EventTypes),
  description: Type.Optional(Description),
  active: Type.Optional(Type.Boolean({ default: true }))
})
export type CreateEndpointRequest = Static<typeof CreateEndpointRequest>
export const UpdateEndpointRequest = patchRequest('UpdateWebhookEndpointRequest', {
  url: Url,
  event_types: EventTypes,
  description: Description,
  active: Type.Boolean()
})
export type UpdateEndpointRequest = Static<typeof UpdateEndpointRequest>

export const RotateSecretRequest = request('RotateWebhookSecretRequest', {
  overlap_hours: Type.Optional(
    Type.Integer({
      description: 'How long the secret before signs as well; 0: it ends at once.',
      minimum: 0,
      maximum: OVERLAP_HOURS_MAX,
      default: 24
    })
  )
})
export type RotateSecretRequest = Static<typeof RotateSecretRequest>

const shown = {
  id: Id,
  url: Type.String(),
  description: Type.String(),
  event_types: nullable(Type.Array(Type.String(), { description: 'Null: all.' })),
  active: Type.Boolean(),
  disabled_reason: nullable(
    Type.Enum(['failing', 'gone'], {
      description: 'Why the shop switched it off. failing: nothing arrived for days. gone: it answered 410.'
    })
  ),
  failing_since: nullable({ ...Time, description: 'The first failure since something arrived.' }),
  previous_until: nullable({ ...Time, description: 'Until then the secret before signs as well.' }),
  version: Version,
  created_at: Time
}
export const EndpointResponse = response('WebhookEndpointResponse', shown)
export type EndpointResponse = Static<typeof EndpointResponse>
export const EndpointSecretResponse = response('WebhookEndpointSecretResponse', {
  ...shown,
  secret: Type.String({ description: 'What its receiver verifies signatures with; it is not shown again.' })
})
export type EndpointSecretResponse = Static<typeof EndpointSecretResponse>
