import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import {
  shipmentAlreadyVoidedError,
  shipmentHasTrackingEventsError,
  shipmentNotFoundError,
  shipmentNotShippedError,
  shipmentStaleError,
  trackingEventLimitReachedError,
  trackingEventNotFoundError,
  trackingEventTimeInvalidError
} from '../errors.ts'
import { shipmentCorrectedEvent, shipmentDeliveredEvent, shipmentReturnedEvent } from '../events.ts'
import * as repository from './repository.ts'
import type { TrackingEventRequest } from './schema.ts'
import {
  hasParcelLeftShop,
  shipmentStatusFromEvents,
  type TrackingEvent,
  type TrackingStatus,
  trackingEventDigest
} from './status.ts'

/** Maximum number of events of a parcel. */
const EVENTS_MAX = 300
const DAY_MS = 86_400_000
const EARLIEST = Date.UTC(2000)
/** Events to emit when a parcel gets this status. */
const EVENT_OF = { delivered: shipmentDeliveredEvent, returned: shipmentReturnedEvent } as const

/** A parcel to void as never shipped. */
export type VoidUnshippedParcelInput = {
  readonly shipmentId: string
  readonly actor: string | null
  readonly reason: string
}
/** A tracking event to void as wrong. */
export type VoidTrackingEventInput = VoidUnshippedParcelInput & {
  readonly orderId: string
  readonly eventId: string
}
/** Change of a parcel's status after a wrong event was voided. `since`: when it got the status `before`. */
export type ShipmentStatusCorrection = {
  readonly before: TrackingStatus
  readonly since: Date
  readonly after: TrackingStatus
}

type Deps = { db: Database; emit: Emit }

/** Adds and voids tracking events of shipments. */
export function createTrackingService({ db, emit }: Deps) {
  /**
   * Adds tracking events. Order and repetition do not change the result.
   * @throws `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_STALE`, `SHIPPING_SHIPMENT_NOT_SENT`, `SHIPPING_SHIPMENT_VOIDED`,
   * `SHIPPING_EVENT_TIME_INVALID`, `SHIPPING_EVENTS_LIMIT`
   */
  async function addEvents(
    id: string,
    events: readonly TrackingEventRequest[],
    actor: string,
    write: IdempotentWrite
  ): Promise<void> {
    const reported = events.map(readEvent)
    await write.once(db, async tx => {
      const shipment = found(await tx.first(repository.lockShipment, { id }), shipmentNotFoundError)
      write.expect(shipment.version, shipmentStaleError)
      if (shipment.sent_at === null) throw shipmentNotShippedError()
      if (shipment.status === 'voided') throw shipmentAlreadyVoidedError()
      const rows = reported.map((event, index) => ({
        ...event,
        id: write.idOf(`event ${index}`),
        digest: trackingEventDigest(event)
      }))
      if ((await tx.run(repository.insertTrackingEvents, { shipment_id: id, actor, rows })) === 0) return
      const all = await tx.rows(repository.listTrackingEventStatuses, { shipment_id: id })
      if (all.length > EVENTS_MAX) throw trackingEventLimitReachedError({ details: { limit: EVENTS_MAX } })
      const status = shipmentStatusFromEvents(all)
      await tx.run(repository.updateShipmentStatus, { id, status })
      if (status === shipment.status || !(status in EVENT_OF)) return
      const { order_id } = shipment
      emit(tx, EVENT_OF[status as keyof typeof EVENT_OF], order_id, { order_id, shipment_id: id })
    })
  }

  /**
   * Voids an event and all events with the same carrier id, also ones that arrive later. Voided events stay visible to
   * administrators and do not count. Returns `undefined` when the event is voided already.
   * @throws `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_VOIDED`, `SHIPPING_EVENT_NOT_FOUND`
   */
  async function voidEvent(
    tx: Transaction,
    { orderId: order_id, shipmentId: id, eventId, actor, reason }: VoidTrackingEventInput
  ): Promise<ShipmentStatusCorrection | undefined> {
    const shipment = await tx.first(repository.lockShipment, { id })
    if (shipment?.order_id !== order_id) throw shipmentNotFoundError()
    if (shipment.status === 'voided') throw shipmentAlreadyVoidedError()
    const voided = await tx.run(repository.voidTrackingEventWithDuplicates, {
      shipment_id: id,
      id: eventId,
      actor,
      reason
    })
    const all = await tx.rows(repository.listTrackingEventStatuses, { shipment_id: id })
    found(
      all.find(event => event.id === eventId),
      trackingEventNotFoundError
    )
    if (voided === 0) return undefined
    const [before, after] = [shipment.status, shipmentStatusFromEvents(all)]
    await tx.run(repository.updateShipmentStatus, { id, status: after })
    if (after !== before)
      emit(tx, shipmentCorrectedEvent, order_id, { order_id, shipment_id: id, status: after })
    const times = all.flatMap(({ status, told_at }) => (status === before ? [told_at.getTime()] : []))
    return { before, since: new Date(Math.min(...times, Date.now())), after }
  }

  const findReported = async (db: Queryable, shipmentIds: readonly string[], status: TrackingStatus) => {
    const rows = await db.rows(repository.listShipmentIdsByEventStatus, {
      shipment_ids: [...shipmentIds],
      status
    })
    return new Set(rows.map(({ id }) => id))
  }

  /** Does nothing for a parcel that was shipped while this module was disabled. @throws `SHIPPING_SHIPMENT_LEFT` */
  async function voidParcel(
    tx: Transaction,
    { shipmentId: id, actor, reason }: VoidUnshippedParcelInput
  ): Promise<void> {
    if ((await tx.first(repository.lockShipment, { id })) === undefined) return
    if (hasParcelLeftShop(await tx.rows(repository.listTrackingEventStatuses, { shipment_id: id })))
      throw shipmentHasTrackingEventsError()
    await tx.run(repository.markShipmentVoided, { id, actor, reason })
  }

  return { addEvents, findReported, voidEvent, voidParcel }
}
export type TrackingService = ReturnType<typeof createTrackingService>

/** @throws `SHIPPING_EVENT_TIME_INVALID` */
function readEvent(event: TrackingEventRequest): TrackingEvent {
  const occurred_at = new Date(event.occurred_at)
  const time = occurred_at.getTime()
  // Events may be a day in the future, because clocks and time zones of carriers can be wrong.
  if (!(time >= EARLIEST && time <= Date.now() + DAY_MS)) throw trackingEventTimeInvalidError()
  return {
    occurred_at,
    status: event.status,
    event_id: event.event_id ?? null,
    description: event.description ?? null,
    location: event.location ?? null,
    estimated_delivery: event.estimated_delivery ?? null
  }
}
