import { hash } from 'node:crypto'

/** Statuses of events, from least to most advanced: a returned parcel no longer counts as delivered. */
export const TRACKING_STATUSES = ['pending', 'in_transit', 'delivered', 'returned'] as const
export type TrackingStatus = (typeof TRACKING_STATUSES)[number]
/** Statuses of shipments. A voided one accepts no events. */
export const SHIPMENT_STATUSES = [...TRACKING_STATUSES, 'voided'] as const
export type ShipmentStatus = (typeof SHIPMENT_STATUSES)[number]

/** A tracking event of a parcel. */
export type TrackingEvent = {
  /** The id that the carrier gave the event. Null: the carrier gave none. */
  readonly event_id: string | null
  readonly status: TrackingStatus
  readonly occurred_at: Date
  readonly description: string | null
  readonly location: string | null
  /** The estimated day of delivery: a date without a time. */
  readonly estimated_delivery: string | null
}

const rankOf = (status: TrackingStatus) => TRACKING_STATUSES.indexOf(status)

type Voidable = { readonly voided_at: unknown }
/** Returns whether a tracking event counts, because it is not voided. */
export const isTrackingEventNotVoided = ({ voided_at }: Voidable): boolean => voided_at === null

/** Derives the status of a shipped parcel from its events, in any order. */
export const shipmentStatusFromEvents = (
  reported: readonly (Pick<TrackingEvent, 'status'> & Voidable)[]
): TrackingStatus =>
  reported
    .filter(isTrackingEventNotVoided)
    .reduce<TrackingStatus>(
      (most, { status }) => (rankOf(status) > rankOf(most) ? status : most),
      'in_transit'
    )

/** Whether the carrier has the parcel. A `pending` event only means that a label exists. */
export const hasParcelLeftShop = (reported: readonly (Pick<TrackingEvent, 'status'> & Voidable)[]): boolean =>
  reported.some(event => isTrackingEventNotVoided(event) && event.status !== 'pending')

/** Hashes the content of a tracking event. The hash is stored, and detects repeated events. */
export const trackingEventDigest = ({ occurred_at, ...event }: TrackingEvent): string =>
  hash(
    'sha256',
    JSON.stringify([
      ...[event.event_id, event.status, occurred_at.getTime()],
      ...[event.description, event.location, event.estimated_delivery]
    ]),
    'base64url'
  )

/** Last tie-breaker: only equal events have equal digests. */
const byDigest = (one: TrackingEvent, other: TrackingEvent) =>
  trackingEventDigest(one) < trackingEventDigest(other) ? -1 : 1
const byRank = (one: TrackingEvent, other: TrackingEvent) => rankOf(one.status) - rankOf(other.status)
const byTime = (one: TrackingEvent, other: TrackingEvent) =>
  one.occurred_at.getTime() - other.occurred_at.getTime()

/** Returns the events to show, latest first. Of events with the same carrier id, the most advanced one. */
export function deduplicateTrackingEvents<T extends TrackingEvent>(events: readonly T[]): T[] {
  const weakestFirst = events.toSorted((a, b) => byRank(a, b) || byTime(a, b) || byDigest(a, b))
  const chosen = new Map(weakestFirst.map(event => [identityOf(event), event]))
  return [...chosen.values()].sort((a, b) => byTime(b, a) || byRank(b, a) || byDigest(b, a))
}

const identityOf = (event: TrackingEvent) =>
  event.event_id === null ? `digest ${trackingEventDigest(event)}` : `id ${event.event_id}`

/** Returns the estimated day of the latest event that states one. */
export const deliveryEstimateOfLatestTrackingEvent = (events: readonly TrackingEvent[]): string | null =>
  deduplicateTrackingEvents(events).find(({ estimated_delivery }) => estimated_delivery !== null)
    ?.estimated_delivery ?? null
