import { type Static, Type } from '../../../kernel/schema.ts'
import { Day, Id, line, nullable, request, response, Time } from '../../../kernel/wire.ts'
import { SHIPMENT_STATUSES, TRACKING_STATUSES } from './status.ts'

const EVENTS_AT_ONCE_MAX = 100

export const TrackingStatus = Type.Enum([...TRACKING_STATUSES])
export const ShipmentStatus = Type.Enum([...SHIPMENT_STATUSES], {
  description:
    'The most advanced status of all events, in the order of this list. `voided`: recorded by mistake.'
})
const event = {
  status: TrackingStatus,
  occurred_at: Type.String({ format: 'date-time' }),
  description: Type.Optional(line(500, 'Text of the carrier. The public tracking page shows it.')),
  location: Type.Optional(line(200, 'A town or a depot. Do not send addresses of persons.')),
  estimated_delivery: Type.Optional(Day),
  event_id: Type.Optional(
    line(
      200,
      'The id that the carrier gave the event. Events with the same id, or without one the same content, count once.'
    )
  )
}
export const TrackingEventRequest = request('TrackingEventRequest', event)
export type TrackingEventRequest = Static<typeof TrackingEventRequest>
export const TrackingEventsRequest = request('TrackingEventsRequest', {
  events: Type.Array(TrackingEventRequest, { minItems: 1, maxItems: EVENTS_AT_ONCE_MAX })
})
export type TrackingEventsRequest = Static<typeof TrackingEventsRequest>

const reported = {
  status: TrackingStatus,
  occurred_at: Time,
  description: nullable(Type.String()),
  location: nullable(Type.String())
}
export const TrackingEventResponse = response('TrackingEventResponse', reported)
export const AdminTrackingEventResponse = response('AdminTrackingEventResponse', {
  id: Id,
  ...reported,
  estimated_delivery: nullable(Day),
  event_id: nullable(Type.String()),
  actor: nullable({ ...Id, description: 'The user who added it.' }),
  told_at: Time,
  voided_at: nullable({ ...Time, description: 'When the event was voided as wrong. Null: it counts.' }),
  voided_by: nullable({ ...Id, description: 'The administrator who voided the event.' }),
  void_reason: nullable(Type.String())
})
