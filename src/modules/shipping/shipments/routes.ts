import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { TrackingEventRequest, TrackingEventsRequest } from '../tracking/schema.ts'
import type { Tracking } from '../tracking/service.ts'
import {
  AdminShipmentResponse,
  OrderParams,
  ShipmentsResponse,
  TrackParams,
  TrackQuery,
  TrackResponse
} from './schema.ts'
import type { ShipmentService } from './service.ts'

const config = { class: 'account' } as const
const own = { params: IdParams, response: { 200: AdminShipmentResponse } }
const TOKEN = 'x-order-token'

export function shipmentRoutes(
  tiers: Tiers,
  shipments: ShipmentService,
  { tracking, perMinute }: { tracking: Tracking; perMinute: number }
): void {
  tiers.secured.get(
    '/shipping/order/:order_id',
    {
      config,
      schema: {
        summary: 'How an order of yours comes, and where it is',
        params: OrderParams,
        response: { 200: ShipmentsResponse }
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
        summary: 'How the order comes that a token is of, and where it is',
        params: OrderParams,
        headers: Type.Object({
          [TOKEN]: Type.Optional(Type.String({ description: 'The token that the order was answered with.' }))
        }),
        response: { 200: ShipmentsResponse }
      }
    },
    request => shipments.ofOrder({ token: request.headers[TOKEN] }, request.params.order_id)
  )

  tiers.public.get(
    '/shipping/track/:tracking_number',
    {
      config: { class: 'browse', limit: { name: 'track', perMinute } },
      schema: {
        summary: 'Where a parcel is',
        params: TrackParams,
        querystring: TrackQuery,
        response: { 200: TrackResponse }
      }
    },
    request => shipments.track(request.params.tracking_number, request.query.carrier ?? null)
  )

  tiers.admin.get(
    '/admin/shipping/shipments/:id',
    { config, schema: { ...own, summary: 'A shipment, with all that was told of it' } },
    request => shipments.read(request.params.id)
  )

  tiers.admin.post(
    '/admin/shipping/shipments/:id/events',
    { config, schema: { ...own, summary: 'Tell what happened to a parcel', body: TrackingEventRequest } },
    async request => {
      const { id } = request.params
      await tracking.tell(id, [request.body], identityOf(request).userId, writeOf(request))
      return shipments.read(id)
    }
  )

  tiers.admin.post(
    '/admin/shipping/shipments/:id/events/batch',
    {
      config,
      schema: { ...own, summary: 'Tell all that happened to a parcel', body: TrackingEventsRequest }
    },
    async request => {
      const { id } = request.params
      await tracking.tell(id, request.body.events, identityOf(request).userId, writeOf(request))
      return shipments.read(id)
    }
  )
}
