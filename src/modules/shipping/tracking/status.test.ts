import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  deduplicateTrackingEvents,
  deliveryEstimateOfLatestTrackingEvent,
  shipmentStatusFromEvents,
  TRACKING_STATUSES,
  type TrackingEvent,
  trackingEventDigest
} from './status.ts'

const event = fc.record({
  event_id: fc.constantFrom(null, 'a', 'b'),
  status: fc.constantFrom(...TRACKING_STATUSES),
  occurred_at: fc.constantFrom(new Date('2026-11-01T10:00:00Z'), new Date('2026-11-02T10:00:00Z')),
  description: fc.constantFrom(null, 'Sorted', 'At the door'),
  location: fc.constant(null),
  estimated_delivery: fc.constantFrom(null, '2026-11-05', '2026-11-06')
})
const told = (fields: Partial<TrackingEvent> = {}): TrackingEvent => ({
  event_id: null,
  status: 'in_transit',
  occurred_at: new Date('2026-11-01T10:00:00Z'),
  description: null,
  location: null,
  estimated_delivery: null,
  ...fields
})
/** The status of a parcel after these events were added one by one, with duplicates dropped as in the database. */
function after(events: readonly TrackingEvent[]) {
  const kept: TrackingEvent[] = []
  for (const each of events) {
    if (!kept.some(known => trackingEventDigest(known) === trackingEventDigest(each))) kept.push(each)
  }
  const status = shipmentStatusFromEvents(kept.map(each => ({ ...each, voided_at: null })))
  return {
    status,
    visibleEvents: deduplicateTrackingEvents(kept),
    estimate: deliveryEstimateOfLatestTrackingEvent(kept)
  }
}

test('tracking events in any order and repetition give the same shipment status', () => {
  const told = fc
    .array(event, { maxLength: 8 })
    .chain(events =>
      fc.tuple(
        fc.constant(events),
        fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 })
      )
    )
  fc.assert(
    fc.property(told, ([once, twice]) => {
      expect(after(twice)).toEqual(after(once))
    })
  )
})

test('every order of the tracking events of a journey gives its final status', () => {
  const journey = TRACKING_STATUSES.map((status, day) =>
    told({ status, occurred_at: new Date(Date.UTC(2026, 10, day + 1)) })
  )
  const [first, ...rest] = ordersOf(journey).map(after)
  expect(first).toMatchObject({ status: 'returned', visibleEvents: journey.toReversed() })
  expect(rest).toHaveLength(23)
  for (const each of rest) expect(each).toEqual(first)
})

const ordersOf = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item, index) => ordersOf(items.toSpliced(index, 1)).map(rest => [item, ...rest]))

test('tracking events with the same carrier id are shown once, as the most advanced one', () => {
  const [arrived, left] = [told({ event_id: 'a', status: 'delivered' }), told({ event_id: 'a' })]
  expect(
    deduplicateTrackingEvents([arrived, left, told({ event_id: 'b' })]).map(({ event_id, status }) => [
      event_id,
      status
    ])
  ).toEqual([
    ['a', 'delivered'],
    ['b', 'in_transit']
  ])
  // Without a carrier id, only events with the same content are the same.
  expect(deduplicateTrackingEvents([told(), told({ description: 'Sorted' })])).toHaveLength(2)
})

test('the estimated delivery of a shipment is that of its latest tracking event', () => {
  const day = (occurred: string, estimated_delivery: string | null) =>
    told({ occurred_at: new Date(occurred), estimated_delivery })
  expect(
    deliveryEstimateOfLatestTrackingEvent([
      day('2026-11-02', '2026-11-09'),
      day('2026-11-01', '2026-11-05'),
      day('2026-11-03', null)
    ])
  ).toBe('2026-11-09')
  expect(deliveryEstimateOfLatestTrackingEvent([told()])).toBeNull()
})
