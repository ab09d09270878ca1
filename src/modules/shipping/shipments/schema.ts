import {
  adminMetadataRequestFields,
  adminMetadataResponseFieldSchemas,
  publicMetadataResponseFields
} from '../../../kernel/metadata.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Day, Id, input, line, nullable, request, response, Time, Version } from '../../../kernel/wire.ts'
import { EstimatedDeliveryDaysSchema } from '../methods/schema.ts'
import { AdminTrackingEventResponse, ShipmentStatus, TrackingEventResponse } from '../tracking/schema.ts'

export const ShipmentOrderParams = input({ order_id: Id })

const about = {
  id: Id,
  method: Type.Enum(['shipping', 'pickup'], {
    description: 'Whether it is shipped to an address or picked up.'
  }),
  provider: nullable(Type.String({ description: 'Carrier of the shipping method that the buyer chose.' })),
  service: nullable(Type.String({ description: 'Name of the shipping method. Null: none was chosen.' })),
  estimated_days: nullable(EstimatedDeliveryDaysSchema),
  status: ShipmentStatus,
  carrier: nullable(Type.String({ description: 'Carrier. Null until it is shipped.' })),
  tracking_number: nullable(Type.String()),
  tracking_url: nullable(Type.String({ description: 'Tracking page of the carrier.' })),
  estimated_delivery: nullable({
    ...Day,
    description: 'Expected day of delivery, from the latest event or from `estimated_days`.'
  }),
  lines: Type.Array(
    Type.Object({
      line: Type.Integer({ description: 'The `id` of an item of the order.' }),
      quantity: Type.Integer()
    }),
    { description: 'Contents, shipped or still to be shipped.' }
  ),
  sent_at: nullable({ ...Time, description: 'When it was shipped. Null: not yet.' }),
  ...publicMetadataResponseFields,
  created_at: Time,
  updated_at: Time
}
const ShipmentResponse = response('ShipmentResponse', {
  ...about,
  events: Type.Array(TrackingEventResponse, { description: 'Tracking events, latest first.' })
})
export const OrderShipmentsResponse = response('OrderShipmentsResponse', {
  order_id: Id,
  items: Type.Array(ShipmentResponse)
})
export type OrderShipmentsResponse = Static<typeof OrderShipmentsResponse>

export const TrackingNumberParams = input({
  tracking_number: line(100, 'Tracking number. Spaces and case do not matter.')
})
export const TrackingNumberQuery = input({
  carrier: Type.Optional(line(100, 'Code or name of the carrier, if several use the number.'))
})
export const TrackingResponse = response('TrackResponse', {
  tracking_number: Type.String(),
  carrier: nullable(Type.String()),
  status: ShipmentStatus,
  estimated_delivery: about.estimated_delivery,
  tracking_url: about.tracking_url,
  events: Type.Array(TrackingEventResponse)
})
export type TrackingResponse = Static<typeof TrackingResponse>

export const UpdateShipmentMetadataRequest = request(
  'UpdateShipmentMetadataRequest',
  adminMetadataRequestFields
)

export const AdminShipmentResponse = response('AdminShipmentResponse', {
  order_id: Id,
  ...about,
  voided_at: nullable({
    ...Time,
    description: 'When the shipment was voided as recorded by mistake. Null: it is valid.'
  }),
  voided_by: nullable({ ...Id, description: 'The administrator who voided the shipment.' }),
  void_reason: nullable(Type.String()),
  ...adminMetadataResponseFieldSchemas,
  events: Type.Array(AdminTrackingEventResponse, { description: 'Tracking events, latest first.' }),
  version: Version
})
export type AdminShipmentResponse = Static<typeof AdminShipmentResponse>
