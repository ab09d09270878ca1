import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import { DeliveryDetailsResponse, DeliveryQuery, DeliveryResponse, ReplayRequest } from './schema.ts'
import type { DeliveryService } from './service.ts'

const config = { class: 'account' } as const

export function deliveryRoutes(tiers: Tiers, deliveries: DeliveryService): void {
  tiers.admin.get(
    '/admin/webhooks/deliveries',
    {
      config,
      schema: {
        summary: 'What endpoints of webhooks were told, the newest first',
        querystring: DeliveryQuery,
        response: { 200: listOf(DeliveryResponse) }
      }
    },
    request => deliveries.list(request.query)
  )

  tiers.admin.get(
    '/admin/webhooks/deliveries/:id',
    {
      config,
      schema: {
        summary: 'Show a delivery of a webhook, and its attempts',
        params: IdParams,
        response: { 200: DeliveryDetailsResponse }
      }
    },
    request => deliveries.read(request.params.id)
  )

  tiers.admin.post(
    '/admin/webhooks/deliveries/:id/replay',
    {
      config,
      schema: {
        summary: 'Send a webhook once more, with the same id',
        params: IdParams,
        response: { 200: DeliveryDetailsResponse }
      }
    },
    request => deliveries.replay(request.params.id, writeOf(request))
  )

  tiers.admin.post(
    '/admin/webhooks/endpoints/:id/replay',
    {
      config,
      schema: {
        summary: 'Send an endpoint of webhooks once more what it was not told, or everything, since a time',
        params: IdParams,
        body: ReplayRequest,
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
        summary: 'Send an endpoint a webhook.test',
        params: IdParams,
        response: { 201: DeliveryDetailsResponse }
      }
    },
    request => deliveries.test(request.params.id, writeOf(request))
  )
}
