import { hash } from 'node:crypto'

/** From the one that says least to the one that says most: what has come back is not delivered any more. */
export const TOLD_STATUSES = ['pending', 'in_transit', 'delivered', 'returned'] as const
export type ToldStatus = (typeof TOLD_STATUSES)[number]
/** Of a parcel that was voided nothing more is told. */
export const SHIPMENT_STATUSES = [...TOLD_STATUSES, 'voided'] as const
export type ShipmentStatus = (typeof SHIPMENT_STATUSES)[number]

/** What was told of a parcel. */
export type Told = {
  /** The carrier's; null: it has none. */
  readonly event_id: string | null
  readonly status: ToldStatus
  readonly occurred_at: Date
  readonly description: string | null
  readonly location: string | null
  /** A day. */
  readonly estimated_delivery: string | null
}

const rankOf = (status: ToldStatus) => TOLD_STATUSES.indexOf(status)

type Voidable = { readonly voided_at: unknown }
/** Whether it was not found to be wrong. */
export const counts = ({ voided_at }: Voidable): boolean => voided_at === null

/** The status of a parcel that is sent, and of which these were told, in whichever order. */
export const statusOf = (told: readonly (Pick<Told, 'status'> & Voidable)[]): ToldStatus =>
  told
    .filter(counts)
    .reduce<ToldStatus>((most, { status }) => (rankOf(status) > rankOf(most) ? status : most), 'in_transit')

/** Whether its carrier has it, by what was told: that there is a label says nothing yet. */
export const hasLeft = (told: readonly (Pick<Told, 'status'> & Voidable)[]): boolean =>
  told.some(event => counts(event) && event.status !== 'pending')

/** The same for events that say the same. */
export const digestOf = ({ occurred_at, ...event }: Told): string =>
  hash(
    'sha256',
    JSON.stringify([
      ...[event.event_id, event.status, occurred_at.getTime()],
      ...[event.description, event.location, event.estimated_delivery]
    ]),
    'base64url'
  )

/** By what they say of the parcel, and by time: only what says the same is the same in both. */
const byDigest = (one: Told, other: Told) => (digestOf(one) < digestOf(other) ? -1 : 1)
const byRank = (one: Told, other: Told) => rankOf(one.status) - rankOf(other.status)
const byTime = (one: Told, other: Told) => one.occurred_at.getTime() - other.occurred_at.getTime()

/** The events that are shown, the latest first: of those that the carrier calls alike the one that says most. */
export function shown<T extends Told>(events: readonly T[]): T[] {
  const weakestFirst = events.toSorted((a, b) => byRank(a, b) || byTime(a, b) || byDigest(a, b))
  const chosen = new Map(weakestFirst.map(event => [keyOf(event), event]))
  return [...chosen.values()].sort((a, b) => byTime(b, a) || byRank(b, a) || byDigest(b, a))
}

const keyOf = (event: Told) =>
  event.event_id === null ? `digest ${digestOf(event)}` : `id ${event.event_id}`

/** The day that the latest event names, of those that name one. */
export const estimateOf = (events: readonly Told[]): string | null =>
  shown(events).find(({ estimated_delivery }) => estimated_delivery !== null)?.estimated_delivery ?? null
