import { found } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import {
  eventNotFound,
  eventsLimit,
  eventTimeInvalid,
  shipmentLeft,
  shipmentNotFound,
  shipmentNotSent,
  shipmentStale,
  shipmentVoided
} from '../errors.ts'
import { shipmentCorrected, shipmentDelivered, shipmentReturned } from '../events.ts'
import * as repository from './repository.ts'
import { digestOf, hasLeft, statusOf, type Told, type ToldStatus } from './rule.ts'
import type { TrackingEventRequest } from './schema.ts'

/** The most that is told of one parcel. */
const EVENTS_MAX = 300
const DAY_MS = 86_400_000
const EARLIEST = Date.UTC(2000)
/** What others are told when a parcel comes to this. */
const EVENT_OF = { delivered: shipmentDelivered, returned: shipmentReturned } as const

/** A parcel that never left, and who says so. */
export type WrongParcel = {
  readonly shipmentId: string
  readonly actor: string | null
  readonly reason: string
}
/** An event of a parcel that is wrong. */
export type WrongEvent = WrongParcel & { readonly orderId: string; readonly eventId: string }
/** What a parcel was said to be, since when, and what it is by all that was not wrong. */
export type Correction = {
  readonly before: ToldStatus
  readonly since: Date
  readonly after: ToldStatus
}

type Deps = { db: Database; emit: Emit }

/** What is told of parcels on their way. */
export function createTracking({ db, emit }: Deps) {
  /**
   * These come to the same in any order, and however often they are told.
   * @throws `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_STALE`, `SHIPPING_SHIPMENT_NOT_SENT`, `SHIPPING_SHIPMENT_VOIDED`,
   * `SHIPPING_EVENT_TIME_INVALID`, `SHIPPING_EVENTS_LIMIT`
   */
  async function tell(
    id: string,
    events: readonly TrackingEventRequest[],
    actor: string,
    write: Write
  ): Promise<void> {
    const told = events.map(toldBy)
    await write.once(db, async tx => {
      const shipment = found(await tx.first(repository.lockShipment, { id }), shipmentNotFound)
      write.expect(shipment.version, shipmentStale)
      if (shipment.sent_at === null) throw shipmentNotSent()
      if (shipment.status === 'voided') throw shipmentVoided()
      const rows = told.map((event, index) => ({
        ...event,
        id: write.idOf(`event ${index}`),
        digest: digestOf(event)
      }))
      if ((await tx.run(repository.insertEvents, { shipment_id: id, actor, rows })) === 0) return
      const all = await tx.rows(repository.listEvents, { shipment_id: id })
      if (all.length > EVENTS_MAX) throw eventsLimit({ details: { limit: EVENTS_MAX } })
      const status = statusOf(all)
      await tx.run(repository.updateStatus, { id, status })
      if (status === shipment.status || !(status in EVENT_OF)) return
      const { order_id } = shipment
      emit(tx, EVENT_OF[status as keyof typeof EVENT_OF], order_id, { order_id, shipment_id: id })
    })
  }

  /**
   * An event was wrong, and whatever its carrier calls alike: it is shown as such, and counts no more, however often it is told.
   * Answers `undefined` where that is known already.
   * @throws `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_VOIDED`, `SHIPPING_EVENT_NOT_FOUND`
   */
  async function voidEvent(
    tx: Transaction,
    { orderId: order_id, shipmentId: id, eventId, actor, reason }: WrongEvent
  ): Promise<Correction | undefined> {
    const shipment = await tx.first(repository.lockShipment, { id })
    if (shipment?.order_id !== order_id) throw shipmentNotFound()
    if (shipment.status === 'voided') throw shipmentVoided()
    const voided = await tx.run(repository.voidEvents, { shipment_id: id, id: eventId, actor, reason })
    const all = await tx.rows(repository.listEvents, { shipment_id: id })
    found(
      all.find(event => event.id === eventId),
      eventNotFound
    )
    if (voided === 0) return undefined
    const [before, after] = [shipment.status, statusOf(all)]
    await tx.run(repository.updateStatus, { id, status: after })
    if (after !== before) emit(tx, shipmentCorrected, order_id, { order_id, shipment_id: id, status: after })
    const times = all.flatMap(({ status, told_at }) => (status === before ? [told_at.getTime()] : []))
    return { before, since: new Date(Math.min(...times, Date.now())), after }
  }

  const told = async (db: Queryable, shipmentIds: readonly string[], status: ToldStatus) => {
    const rows = await db.rows(repository.listTold, { shipment_ids: [...shipmentIds], status })
    return new Set(rows.map(({ id }) => id))
  }

  /** A parcel never left; one that shipping knows nothing of was sent while it was switched off. @throws `SHIPPING_SHIPMENT_LEFT` */
  async function voidParcel(tx: Transaction, { shipmentId: id, actor, reason }: WrongParcel): Promise<void> {
    if ((await tx.first(repository.lockShipment, { id })) === undefined) return
    if (hasLeft(await tx.rows(repository.listEvents, { shipment_id: id }))) throw shipmentLeft()
    await tx.run(repository.voidParcel, { id, actor, reason })
  }

  return { tell, told, voidEvent, voidParcel }
}
export type Tracking = ReturnType<typeof createTracking>

/** @throws `SHIPPING_EVENT_TIME_INVALID` */
function toldBy(event: TrackingEventRequest): Told {
  const occurred_at = new Date(event.occurred_at)
  const time = occurred_at.getTime()
  // Clocks and time zones of carriers are not always right.
  if (!(time >= EARLIEST && time <= Date.now() + DAY_MS)) throw eventTimeInvalid()
  return {
    ...{ occurred_at, status: event.status, event_id: event.event_id ?? null },
    description: event.description ?? null,
    location: event.location ?? null,
    estimated_delivery: event.estimated_delivery ?? null
  }
}
