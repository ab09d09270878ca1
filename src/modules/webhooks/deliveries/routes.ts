import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, withResponseDescription } from '../../../kernel/wire.ts'
import {
  ReplayWebhooksRequest,
  WebhookDeliveryDetailsResponse,
  WebhookDeliveryQuery,
  WebhookDeliveryResponse
} from './schema.ts'
import type { WebhookDeliveryService } from './service.ts'

const config = { class: 'account' } as const

export function webhookDeliveryRoutes(tiers: Tiers, deliveries: WebhookDeliveryService): void {
  tiers.admin.get(
    '/admin/webhooks/deliveries',
    {
      config,
      schema: {
        summary: 'List webhook deliveries',
        description:
          'Returns the deliveries of all endpoints, newest first. Filter by `endpoint_id`, `type` and `status`; `status=dead` shows those that were never delivered. Deliveries are deleted after `webhooks.retention_days`.',
        querystring: WebhookDeliveryQuery,
        response: { 200: listOf(WebhookDeliveryResponse) }
      }
    },
    request => deliveries.list(request.query)
  )

  tiers.admin.get(
    '/admin/webhooks/deliveries/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a webhook delivery',
        description:
          'Returns a delivery with its request body and its latest attempts. Each attempt shows the HTTP status, the duration, the error and the beginning of the response. 404 `WEBHOOKS_DELIVERY_NOT_FOUND`: it does not exist, or was deleted because of its age.',
        params: IdParams,
        response: { 200: WebhookDeliveryDetailsResponse }
      }
    },
    request => deliveries.read(request.params.id)
  )

  tiers.admin.post(
    '/admin/webhooks/deliveries/:id/replay',
    {
      config,
      schema: {
        summary: 'Retry a webhook delivery',
        description:
          'Sends a delivery of any status again, immediately and with the same `webhook-id` and body. When that fails, it is retried like a new one. 404 `WEBHOOKS_DELIVERY_NOT_FOUND`: it does not exist, or was deleted because of its age. 409 `WEBHOOKS_ENDPOINT_INACTIVE`: enable the endpoint first.',
        params: IdParams,
        response: { 200: WebhookDeliveryDetailsResponse }
      }
    },
    request => deliveries.replay(request.params.id, writeOf(request))
  )

  tiers.admin.post(
    '/admin/webhooks/endpoints/:id/replay',
    {
      config,
      schema: {
        summary: 'Retry deliveries of a webhook endpoint',
        description:
          'Sends the dead deliveries of an endpoint since a time again, for example after an outage of the receiver. With `which: all` delivered and superseded ones are sent again, too. 404 `WEBHOOKS_ENDPOINT_NOT_FOUND`: it does not exist. 409 `WEBHOOKS_ENDPOINT_INACTIVE`: enable the endpoint first. 409 `WEBHOOKS_REPLAY_TOO_LARGE`: send a later `since`.',
        params: IdParams,
        body: ReplayWebhooksRequest,
        response: noContent
      }
    },
    request => deliveries.replaySince(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/webhooks/endpoints/:id/test',
    {
      config,
      schema: {
        summary: 'Send a test webhook',
        description:
          'Sends an event of type `webhook.test` to an endpoint, whatever its event types are. Read the delivery afterwards to see its attempts. 404 `WEBHOOKS_ENDPOINT_NOT_FOUND`: it does not exist. 409 `WEBHOOKS_ENDPOINT_INACTIVE`: enable the endpoint first.',
        params: IdParams,
        response: {
          201: withResponseDescription(
            WebhookDeliveryDetailsResponse,
            'The delivery, which is sent shortly after.'
          )
        }
      }
    },
    request => deliveries.test(request.params.id, writeOf(request))
  )
}
