import type { Directory } from '../carriers/directory.ts'
import { counts, estimateOf, shown } from '../tracking/rule.ts'
import type { WholeShipmentRow } from './repository.ts'

const DAY_MS = 86_400_000

/** What everybody is shown of a shipment who may see it; `urlOf` knows where carriers say where a parcel is. */
export function viewOf(row: WholeShipmentRow, urlOf: Directory['urlOf']) {
  const { events, days_min: min, days_max: max, carrier_code, customer_id, token_version, ...shipment } = row
  const told = toldOf(events).filter(counts)
  const isOnItsWay = row.status === 'in_transit'
  return {
    ...shipment,
    lines: [...row.lines],
    estimated_days: min === null || max === null ? null : { min, max },
    tracking_url: urlOf(carrier_code, row.tracking_number),
    estimated_delivery: isOnItsWay ? (estimateOf(told) ?? dayAfter(row.sent_at, max)) : null,
    events: shown(told)
  }
}

/** The same for administrators, who see, too, what was wrong. */
export const adminViewOf = (row: WholeShipmentRow, urlOf: Directory['urlOf']) => ({
  ...viewOf(row, urlOf),
  events: shown(toldOf(row.events))
})

const toldOf = (events: WholeShipmentRow['events']) =>
  events.map(({ occurred_at, told_at, voided_at, ...event }) => ({
    ...event,
    occurred_at: new Date(occurred_at),
    told_at: new Date(told_at),
    voided_at: voided_at === null ? null : new Date(voided_at)
  }))

const dayAfter = (sent: Date | null, days: number | null): string | null =>
  sent === null || days === null ? null : new Date(sent.getTime() + days * DAY_MS).toISOString().slice(0, 10)
