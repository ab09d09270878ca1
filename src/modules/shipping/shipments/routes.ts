import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { TrackingEventRequest, TrackingEventsRequest } from '../tracking/schema.ts'
import type { TrackingService } from '../tracking/service.ts'
import {
  AdminShipmentResponse,
  OrderShipmentsResponse,
  ShipmentOrderParams,
  TrackingNumberParams,
  TrackingNumberQuery,
  TrackingResponse,
  UpdateShipmentMetadataRequest
} from './schema.ts'
import type { ShipmentService } from './service.ts'

const config = { class: 'account' } as const
const own = { params: IdParams, response: { 200: AdminShipmentResponse } }
const TOKEN = 'x-order-token'

export function shipmentRoutes(
  tiers: Tiers,
  shipments: ShipmentService,
  { tracking, perMinute }: { tracking: TrackingService; perMinute: number }
): void {
  tiers.secured.get(
    '/shipping/order/:order_id',
    {
      config,
      schema: {
        summary: "List an order's shipments",
        description:
          'Returns the shipments of an order of the customer, those still to be shipped included, with tracking events. 404 `SHIPPING_SHIPMENTS_NOT_FOUND`: the order has no shipments, or belongs to another buyer.',
        params: ShipmentOrderParams,
        response: { 200: OrderShipmentsResponse }
      }
    },
    request => shipments.ofOrder({ customerId: identityOf(request).userId }, request.params.order_id)
  )

  tiers.public.get(
    '/shipping/guest/order/:order_id',
    {
      config,
      schema: {
        tags: ['guest orders'],
        summary: "List a guest order's shipments",
        description:
          'Returns the shipments of a guest order, those still to be shipped included, with tracking events. Needs `X-Order-Token`. 404 `SHIPPING_SHIPMENTS_NOT_FOUND`: the token is missing or wrong, or the order has no shipments.',
        params: ShipmentOrderParams,
        headers: Type.Object({
          [TOKEN]: Type.Optional(
            Type.String({ description: 'The `order_token` of the response that created the order.' })
          )
        }),
        response: { 200: OrderShipmentsResponse }
      }
    },
    request => shipments.ofOrder({ token: request.headers[TOKEN] }, request.params.order_id)
  )

  tiers.public.get(
    '/shipping/track/:tracking_number',
    {
      config: { class: 'browse', limit: { name: 'track', perMinute } },
      schema: {
        summary: 'Track a shipment',
        description:
          'Returns the status and the tracking events of a shipment by its tracking number, without data of the recipient. Needs no token; requests per client address are limited. If carriers reuse a number, the latest shipment is returned; `carrier` selects another one. 404 `SHIPPING_TRACKING_NOT_FOUND`: no shipment has this number.',
        params: TrackingNumberParams,
        querystring: TrackingNumberQuery,
        response: { 200: TrackingResponse }
      }
    },
    request => shipments.track(request.params.tracking_number, request.query.carrier ?? null)
  )

  tiers.admin.get(
    '/admin/shipping/shipments/:id',
    {
      config,
      schema: {
        ...own,
        summary: 'Retrieve a shipment',
        description:
          'Returns a shipment with all its tracking events, voided ones included. 404 `SHIPPING_SHIPMENT_NOT_FOUND`: it does not exist.'
      }
    },
    request => shipments.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/shipping/shipments/:id',
    {
      config,
      schema: {
        ...own,
        summary: "Update a shipment's metadata",
        description:
          'Changes `metadata` and `private_metadata` of a shipment, and returns the shipment. Sent keys are set, null deletes a key, and other keys stay. Metadata that stays equal keeps the version. The buyer sees `metadata`; only administrators see `private_metadata`. 400 `METADATA_LIMIT`: the shipment would have too many keys; delete some. 409 `METADATA_ERASED`: the order was erased; send only null.',
        body: UpdateShipmentMetadataRequest
      }
    },
    request => shipments.updateMetadata(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/shipping/shipments/:id/events',
    {
      config,
      schema: {
        ...own,
        summary: 'Add a tracking event',
        description:
          'Adds a tracking event to a shipment, for example from a carrier. The order of events does not matter, and a repeated event counts once. The status of the shipment is the most advanced one. 400 `SHIPPING_EVENT_TIME_INVALID`: `occurred_at` is before 2000 or over a day ahead. 409 `SHIPPING_SHIPMENT_NOT_SENT`: create the shipment of the order first. 409 `SHIPPING_SHIPMENT_VOIDED`: the shipment was recorded by mistake.',
        body: TrackingEventRequest
      }
    },
    async request => {
      const { id } = request.params
      await tracking.addEvents(id, [request.body], identityOf(request).userId, writeOf(request))
      return shipments.read(id)
    }
  )

  tiers.admin.post(
    '/admin/shipping/shipments/:id/events/batch',
    {
      config,
      schema: {
        ...own,
        summary: 'Add tracking events',
        description:
          'Adds up to 100 tracking events to a shipment: all of them or none. The order of events does not matter, and a repeated event counts once. The status of the shipment is the most advanced one. 400 `SHIPPING_EVENT_TIME_INVALID`: `occurred_at` is before 2000 or over a day ahead. 409 `SHIPPING_SHIPMENT_NOT_SENT`: create the shipment of the order first. 409 `SHIPPING_SHIPMENT_VOIDED`: the shipment was recorded by mistake.',
        body: TrackingEventsRequest
      }
    },
    async request => {
      const { id } = request.params
      await tracking.addEvents(id, request.body.events, identityOf(request).userId, writeOf(request))
      return shipments.read(id)
    }
  )
}
