import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestOf, estimateOf, shown, statusOf, TOLD_STATUSES, type Told } from './rule.ts'

const event = fc.record({
  event_id: fc.constantFrom(null, 'a', 'b'),
  status: fc.constantFrom(...TOLD_STATUSES),
  occurred_at: fc.constantFrom(new Date('2026-11-01T10:00:00Z'), new Date('2026-11-02T10:00:00Z')),
  description: fc.constantFrom(null, 'Sorted', 'At the door'),
  location: fc.constant(null),
  estimated_delivery: fc.constantFrom(null, '2026-11-05', '2026-11-06')
})
const told = (fields: Partial<Told> = {}): Told => ({
  ...{ event_id: null, status: 'in_transit', occurred_at: new Date('2026-11-01T10:00:00Z') },
  ...{ description: null, location: null, estimated_delivery: null, ...fields }
})
/** What a parcel comes to of which these were told one after the other, in the way in which they are kept. */
function after(events: readonly Told[]) {
  const kept: Told[] = []
  for (const each of events) {
    if (!kept.some(known => digestOf(known) === digestOf(each))) kept.push(each)
  }
  const status = statusOf(kept.map(each => ({ ...each, voided_at: null })))
  return { status, shown: shown(kept), estimate: estimateOf(kept) }
}

test('in any order, and however often they are told, events come to the same', () => {
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

test('all orders of one journey come to its end', () => {
  const journey = TOLD_STATUSES.map((status, day) =>
    told({ status, occurred_at: new Date(Date.UTC(2026, 10, day + 1)) })
  )
  const [first, ...rest] = ordersOf(journey).map(after)
  expect(first).toMatchObject({ status: 'returned', shown: journey.toReversed() })
  expect(rest).toHaveLength(23)
  for (const each of rest) expect(each).toEqual(first)
})

const ordersOf = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item, index) => ordersOf(items.toSpliced(index, 1)).map(rest => [item, ...rest]))

test('what the carrier calls alike is shown once, by what says most', () => {
  const [arrived, left] = [told({ event_id: 'a', status: 'delivered' }), told({ event_id: 'a' })]
  expect(
    shown([arrived, left, told({ event_id: 'b' })]).map(({ event_id, status }) => [event_id, status])
  ).toEqual([
    ['a', 'delivered'],
    ['b', 'in_transit']
  ])
  // Without a name of the carrier's, only what says the same is the same.
  expect(shown([told(), told({ description: 'Sorted' })])).toHaveLength(2)
})

test('the day of arrival is the one that was told last', () => {
  const day = (occurred: string, estimated_delivery: string | null) =>
    told({ occurred_at: new Date(occurred), estimated_delivery })
  expect(
    estimateOf([day('2026-11-02', '2026-11-09'), day('2026-11-01', '2026-11-05'), day('2026-11-03', null)])
  ).toBe('2026-11-09')
  expect(estimateOf([told()])).toBeNull()
})
