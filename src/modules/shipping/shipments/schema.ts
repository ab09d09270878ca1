import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, nullable, response, Time } from '../../../kernel/wire.ts'
import { EstimatedDays } from '../methods/schema.ts'

export const OrderParams = input({ order_id: Id })

const ShipmentResponse = response('ShipmentResponse', {
  id: Id,
  method: Type.Enum(['shipping', 'pickup'], { description: 'Sent to an address, or picked up.' }),
  provider: nullable(Type.String({ description: 'Who was to carry it.' })),
  service: Type.String(),
  estimated_days: nullable(EstimatedDays),
  status: Type.Enum(['pending', 'in_transit', 'delivered', 'returned']),
  carrier: nullable(Type.String({ description: 'Who carries it; null until it is sent.' })),
  tracking_number: nullable(Type.String()),
  created_at: Time,
  updated_at: Time
})
export const ShipmentsResponse = response('OrderShipmentsResponse', {
  order_id: Id,
  items: Type.Array(ShipmentResponse)
})
export type ShipmentsResponse = Static<typeof ShipmentsResponse>
