import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery, withResponseDescription } from '../../../kernel/wire.ts'
import {
  CreateWebhookEndpointRequest,
  RotateWebhookSecretRequest,
  UpdateWebhookEndpointRequest,
  WebhookEndpointResponse,
  WebhookEndpointSecretResponse
} from './schema.ts'
import type { WebhookEndpointService } from './service.ts'

const config = { class: 'account' } as const
const PATH = '/admin/webhooks/endpoints'

export function webhookEndpointRoutes(tiers: Tiers, endpoints: WebhookEndpointService): void {
  tiers.admin.get(
    PATH,
    {
      config,
      schema: {
        summary: 'List webhook endpoints',
        description:
          'Returns the endpoints that the shop sends events to, newest first. Secrets are not included.',
        querystring: PageQuery,
        response: { 200: listOf(WebhookEndpointResponse) }
      }
    },
    request => endpoints.list(request.query)
  )

  tiers.admin.post(
    PATH,
    {
      config: { ...config, secret: 201 },
      schema: {
        summary: 'Create a webhook endpoint',
        description:
          'Creates an endpoint that gets events of the given types from now on. The response contains the secret by which the receiver verifies signatures; it is not returned again. 400 `WEBHOOKS_URL_REFUSED`: the URL needs https and a public host. 400 `WEBHOOKS_EVENT_TYPE_UNKNOWN`: `errors` name the types. 409 `WEBHOOKS_ENDPOINTS_LIMIT`: delete an endpoint or raise `webhooks.endpoints_max`.',
        body: CreateWebhookEndpointRequest,
        response: {
          201: withResponseDescription(WebhookEndpointSecretResponse, 'The new endpoint, with its secret.')
        }
      }
    },
    request => endpoints.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    `${PATH}/:id`,
    {
      config,
      schema: {
        summary: 'Retrieve a webhook endpoint',
        description:
          'Returns an endpoint without its secret. `failing_since` and `disabled_reason` show whether deliveries fail. 404 `WEBHOOKS_ENDPOINT_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: WebhookEndpointResponse }
      }
    },
    request => endpoints.read(request.params.id)
  )

  tiers.admin.patch(
    `${PATH}/:id`,
    {
      config,
      schema: {
        summary: 'Update a webhook endpoint',
        description:
          'Changes the given fields. With `active: false` events are no longer stored for the endpoint. With `active: true` waiting deliveries are sent and the failure period starts again. 400 `WEBHOOKS_URL_REFUSED` or `WEBHOOKS_EVENT_TYPE_UNKNOWN`: correct what `errors` list. 404 `WEBHOOKS_ENDPOINT_NOT_FOUND`: it does not exist. 412 `WEBHOOKS_ENDPOINT_STALE`: read the endpoint again and send its version as `If-Match`.',
        params: IdParams,
        body: UpdateWebhookEndpointRequest,
        response: { 200: WebhookEndpointResponse }
      }
    },
    request => endpoints.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.post(
    `${PATH}/:id/rotate`,
    {
      config: { ...config, secret: 200 },
      schema: {
        summary: 'Rotate a webhook secret',
        description:
          'Creates a new secret for an endpoint and returns it once. The previous secret also signs for `overlap_hours`, so that the receiver can switch without losing events. 404 `WEBHOOKS_ENDPOINT_NOT_FOUND`: it does not exist. 412 `WEBHOOKS_ENDPOINT_STALE`: read the endpoint again and send its version as `If-Match`.',
        params: IdParams,
        body: RotateWebhookSecretRequest,
        response: {
          200: withResponseDescription(WebhookEndpointSecretResponse, 'The endpoint, with its new secret.')
        }
      }
    },
    request => endpoints.rotate(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    `${PATH}/:id`,
    {
      config,
      schema: {
        summary: 'Delete a webhook endpoint',
        description:
          'Deletes an endpoint and cancels its pending deliveries. Earlier deliveries stay in the list until `webhooks.retention_days`. 404 `WEBHOOKS_ENDPOINT_NOT_FOUND`: it does not exist. 412 `WEBHOOKS_ENDPOINT_STALE`: read the endpoint again and send its version as `If-Match`.',
        params: IdParams,
        response: noContent
      }
    },
    request => endpoints.remove(request.params.id, writeOf(request))
  )
}
