import type { CarrierDirectory } from '../carriers/directory.ts'
import {
  deduplicateTrackingEvents,
  deliveryEstimateOfLatestTrackingEvent,
  isTrackingEventNotVoided
} from '../tracking/status.ts'
import type { ShipmentWithEvents } from './repository.ts'

const DAY_MS = 86_400_000

/** The shipment as buyers see it. `urlOf` returns tracking pages. */
export function buyerShipmentView(row: ShipmentWithEvents, urlOf: CarrierDirectory['urlOf']) {
  const { events, days_min: min, days_max: max, carrier_code, customer_id, token_version, ...others } = row
  const { private_metadata: _, ...shipment } = others
  const valid = eventsOf(events).filter(isTrackingEventNotVoided)
  const isOnItsWay = row.status === 'in_transit'
  return {
    ...shipment,
    lines: [...row.lines],
    estimated_days: min === null || max === null ? null : { min, max },
    tracking_url: urlOf(carrier_code, row.tracking_number),
    estimated_delivery: isOnItsWay
      ? (deliveryEstimateOfLatestTrackingEvent(valid) ?? dayAfter(row.sent_at, max))
      : null,
    events: deduplicateTrackingEvents(valid)
  }
}

/** The shipment as administrators see it, with voided events. */
export const adminShipmentView = (row: ShipmentWithEvents, urlOf: CarrierDirectory['urlOf']) => ({
  ...buyerShipmentView(row, urlOf),
  private_metadata: row.private_metadata,
  events: deduplicateTrackingEvents(eventsOf(row.events))
})

const eventsOf = (events: ShipmentWithEvents['events']) =>
  events.map(({ occurred_at, told_at, voided_at, ...event }) => ({
    ...event,
    occurred_at: new Date(occurred_at),
    told_at: new Date(told_at),
    voided_at: voided_at === null ? null : new Date(voided_at)
  }))

const dayAfter = (sent: Date | null, days: number | null): string | null =>
  sent === null || days === null ? null : new Date(sent.getTime() + days * DAY_MS).toISOString().slice(0, 10)
