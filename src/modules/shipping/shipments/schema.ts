import { type Static, Type } from '../../../kernel/schema.ts'
import { Day, Id, input, line, nullable, response, Time, Version } from '../../../kernel/wire.ts'
import { EstimatedDays } from '../methods/schema.ts'
import { AdminTrackingEventResponse, ShipmentStatus, TrackingEventResponse } from '../tracking/schema.ts'

export const OrderParams = input({ order_id: Id })

const about = {
  id: Id,
  method: Type.Enum(['shipping', 'pickup'], { description: 'Sent to an address, or picked up.' }),
  provider: nullable(Type.String({ description: 'Who was to carry it.' })),
  service: nullable(Type.String({ description: 'Null: no way of delivery was chosen.' })),
  estimated_days: nullable(EstimatedDays),
  status: ShipmentStatus,
  carrier: nullable(Type.String({ description: 'Who carries it; null until it is sent.' })),
  tracking_number: nullable(Type.String()),
  tracking_url: nullable(Type.String({ description: 'Where its carrier says where it is.' })),
  estimated_delivery: nullable({
    ...Day,
    description: 'When it is to arrive, by what was told last, else by `estimated_days`.'
  }),
  lines: Type.Array(
    Type.Object({
      line: Type.Integer({ description: 'The `id` of an item of the order.' }),
      quantity: Type.Integer()
    }),
    { description: 'What is in it, or still to be sent.' }
  ),
  sent_at: nullable({ ...Time, description: 'Null: it is still to be sent.' }),
  created_at: Time,
  updated_at: Time
}
const ShipmentResponse = response('ShipmentResponse', {
  ...about,
  events: Type.Array(TrackingEventResponse, { description: 'What was told of it, the latest first.' })
})
export const ShipmentsResponse = response('OrderShipmentsResponse', {
  order_id: Id,
  items: Type.Array(ShipmentResponse)
})
export type ShipmentsResponse = Static<typeof ShipmentsResponse>

export const TrackParams = input({ tracking_number: line(100, 'In any spelling.') })
export const TrackQuery = input({
  carrier: Type.Optional(line(100, 'Its code or its name, where several carriers have the number.'))
})
export const TrackResponse = response('TrackResponse', {
  tracking_number: Type.String(),
  carrier: nullable(Type.String()),
  status: ShipmentStatus,
  estimated_delivery: about.estimated_delivery,
  tracking_url: about.tracking_url,
  events: Type.Array(TrackingEventResponse)
})
export type TrackResponse = Static<typeof TrackResponse>

export const AdminShipmentResponse = response('AdminShipmentResponse', {
  order_id: Id,
  ...about,
  voided_at: nullable({ ...Time, description: 'When it was found out that it never left.' }),
  voided_by: nullable({ ...Id, description: 'Who said so.' }),
  void_reason: nullable(Type.String()),
  events: Type.Array(AdminTrackingEventResponse, { description: 'What was told of it, the latest first.' }),
  version: Version
})
export type AdminShipmentResponse = Static<typeof AdminShipmentResponse>
