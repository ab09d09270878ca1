import { type Static, Type } from '../../../kernel/schema.ts'
import { Day, Id, line, nullable, request, response, Time } from '../../../kernel/wire.ts'
import { SHIPMENT_STATUSES, TOLD_STATUSES } from './rule.ts'

const EVENTS_AT_ONCE_MAX = 100

export const ToldStatus = Type.Enum([...TOLD_STATUSES])
export const ShipmentStatus = Type.Enum([...SHIPMENT_STATUSES], {
  description:
    'The one that says most of all that was told: what was delivered is not in transit any more. `voided`: it never left.'
})
const event = {
  status: ToldStatus,
  occurred_at: Type.String({ format: 'date-time' }),
  description: Type.Optional(line(500, 'What the carrier says; whoever has the number reads it.')),
  location: Type.Optional(line(200, 'A town or a depot, and nobody’s address.')),
  estimated_delivery: Type.Optional(Day),
  event_id: Type.Optional(
    line(200, 'What the carrier calls it: sent again, it is the same one. Without it, what says the same is.')
  )
}
export const TrackingEventRequest = request('TrackingEventRequest', event)
export type TrackingEventRequest = Static<typeof TrackingEventRequest>
export const TrackingEventsRequest = request('TrackingEventsRequest', {
  events: Type.Array(TrackingEventRequest, { minItems: 1, maxItems: EVENTS_AT_ONCE_MAX })
})
export type TrackingEventsRequest = Static<typeof TrackingEventsRequest>

const told = {
  status: ToldStatus,
  occurred_at: Time,
  description: nullable(Type.String()),
  location: nullable(Type.String())
}
export const TrackingEventResponse = response('TrackingEventResponse', told)
export const AdminTrackingEventResponse = response('AdminTrackingEventResponse', {
  id: Id,
  ...told,
  estimated_delivery: nullable(Day),
  event_id: nullable(Type.String()),
  actor: nullable({ ...Id, description: 'Who told it.' }),
  told_at: Time,
  voided_at: nullable({ ...Time, description: 'Since then it counts no more: it was wrong.' }),
  voided_by: nullable({ ...Id, description: 'Who said so.' }),
  void_reason: nullable(Type.String())
})
