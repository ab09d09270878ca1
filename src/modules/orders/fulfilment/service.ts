import { found } from '../../../kernel/errors.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { OrderPayments } from '../../payments/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { orderActionRefusedError, orderShipmentNotFoundError, orderStaleError } from '../errors.ts'
import { orderShipmentVoidedEvent, orderShippedEvent } from '../events.ts'
import {
  addToOrderLineCounters,
  type OrderLineQuantity,
  remainingOrderLineUnitsByAction
} from '../lifecycle/counters.ts'
import { eventSubjectOfLockedOrder, type OrderUnderLock } from '../lifecycle/locked-order.ts'
import { type OrderActor, type OrderTransitions, SYSTEM_ACTOR } from '../lifecycle/service.ts'
import { deliverableDigitalUnits } from './digital.ts'
import * as repository from './repository.ts'
import { shippableUnitsByDeliveryGroup, stockLinesOfUnits } from './unit-groups.ts'
import { findShipmentVoidRefusalReason, reduceShippedUnitsOfLines } from './voiding.ts'

type Deps = {
  db: Database
  changes: OrderTransitions
  emit: Emit
  inventory: Pick<InventoryApi, 'confirm' | 'post'> | undefined
  payments: Pick<OrderPayments, 'sendOperations'> | undefined
  shipping:
    | Pick<ShippingApi, 'createShipments' | 'updateLabel' | 'recordShipped' | 'voidEvent' | 'voidParcel'>
    | undefined
}
type ShipmentLabel = {
  readonly carrier?: string | null | undefined
  readonly tracking_number?: string | null | undefined
  /** Accepts a tracking number that fails the format check of its carrier. */
  readonly unchecked?: boolean | undefined
}
export type ShipmentInput = ShipmentLabel & {
  /** Default: all remaining units. */
  readonly lines?: readonly OrderLineQuantity[] | undefined
}

/** The error reason for a tracking event that cannot be voided, by the later action that prevents it. */
const REFUSAL_AFTER = { return: 'returned', refund: 'refunded' } as const

/** Ships, delivers and takes back units of orders. */
export function createFulfilmentService({ db, changes, emit, inventory, payments, shipping }: Deps) {
  /** Ships these units, and deducts their stock with the commit. Returns the changed order. */
  async function shipUnits(
    tx: Transaction,
    locked: OrderUnderLock,
    units: readonly OrderLineQuantity[],
    { id, actor, ...given }: ShipmentLabel & { id: string; actor: OrderActor }
  ): Promise<OrderUnderLock> {
    const { carrier = null, tracking_number = null, unchecked = false } = given
    const label = { carrier, tracking_number, unchecked }
    const { id: order_id, number, customer_id } = locked.order
    const lines = addToOrderLineCounters(locked.lines, 'fulfil', units)
    const groups = shippableUnitsByDeliveryGroup(locked, units)
    const parcel = { id, order: locked.order, groups, label }
    const stored = groups.length === 0 ? label : ((await shipping?.recordShipped(tx, parcel)) ?? label)
    const shipped = await changes.transition(tx, locked, 'fulfil', actor, { lines })
    await tx.run(repository.insertOrderShipment, {
      id,
      order_id,
      carrier: stored.carrier,
      tracking_number: stored.tracking_number,
      lines: units,
      actor: actor.id
    })
    // Confirmed units cannot be evicted by a paid order.
    await inventory?.confirm(tx, order_id)
    await inventory?.post(tx, { id, kind: 'ship', owner: order_id, lines: stockLinesOfUnits(locked, units) })
    emit(tx, orderShippedEvent, eventSubjectOfLockedOrder(tx, order_id), {
      order_id,
      number,
      customer_id,
      shipment_id: id
    })
    return shipped
  }

  /** Makes the units of a voided shipment shippable again, with their chosen shipping option. */
  async function reopenShipping(
    tx: Transaction,
    locked: OrderUnderLock,
    units: readonly OrderLineQuantity[]
  ): Promise<void> {
    const { id: orderId, customer_id: customerId } = locked.order
    const chosen = await tx.rows(repository.listDeliveryGroups, { order_id: orderId })
    const groups = shippableUnitsByDeliveryGroup(locked, units).flatMap(({ key, lines }) =>
      chosen
        .filter(({ group_key }) => group_key === key)
        .flatMap(({ method, option }) => {
          if (option === null) return []
          const { estimated_days: estimatedDays, ...rest } = option
          return [{ key, lines, option: { ...rest, method, estimatedDays } }]
        })
    )
    await shipping?.createShipments(tx, { orderId, customerId, groups })
  }

  return {
    /** Delivers the digital units of an order if they are due. Returns the changed order. */
    deliverDigital: async (tx: Transaction, locked: OrderUnderLock): Promise<OrderUnderLock> => {
      const units = deliverableDigitalUnits(locked.lifecycle, locked.order.terms)
      const id = derivedId(locked.order.id, 'delivered')
      return units.length === 0 ? locked : shipUnits(tx, locked, units, { id, actor: SYSTEM_ACTOR })
    },

    /**
     * @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_ACTION_REFUSED`, `ORDER_LINE_UNKNOWN`,
     * `ORDER_UNITS_SHORT`
     */
    ship: async (
      order_id: string,
      parcel: ShipmentInput,
      actor: OrderActor,
      write: IdempotentWrite
    ): Promise<void> => {
      await write.once(db, async tx => {
        const locked = await changes.lock(tx, order_id)
        write.expect(locked.order.version, orderStaleError)
        changes.assertAllowed(locked, 'fulfil', actor)
        const rest = locked.lines.map(line => ({
          line: line.line,
          quantity: remainingOrderLineUnitsByAction.fulfil(line)
        }))
        const { lines: units = rest.filter(({ quantity }) => quantity > 0), ...label } = parcel
        await shipUnits(tx, locked, units, { id: write.id, actor, ...label })
        await captureAuthorized(locked, write.id, actor)
      })
      await payments?.sendOperations(order_id, write.withoutSlot)
    },

    /**
     * Corrects carrier and tracking number of a shipment. @throws as `ship`; `ORDER_SHIPMENT_NOT_FOUND`,
     * `SHIPPING_NUMBER_INVALID`
     */
    relabel: async (
      { id: order_id, shipment_id: id }: { id: string; shipment_id: string },
      { unchecked = false, ...given }: ShipmentLabel,
      actor: OrderActor,
      write: IdempotentWrite
    ): Promise<void> => {
      await write.once(db, async tx => {
        const locked = await changes.lock(tx, order_id)
        write.expect(locked.order.version, orderStaleError)
        changes.assertAllowed(locked, 'relabel', actor)
        const stored = found(
          await tx.first(repository.findOrderShipment, { id, order_id }),
          orderShipmentNotFoundError
        )
        if (stored.voided_at !== null)
          throw orderActionRefusedError({ details: { action: 'relabel', reason: 'voided' } })
        const { carrier: before, tracking_number: number } = stored
        const label = { carrier: before, tracking_number: number, ...definedOf(given), unchecked }
        const { carrier, tracking_number } = (await shipping?.updateLabel(tx, id, label)) ?? label
        await tx.run(repository.updateCarrierAndTracking, { id, carrier, tracking_number, actor: actor.id })
        await changes.transition(tx, locked, 'relabel', actor)
      })
    },

    /**
     * Reverts a shipment that was recorded by mistake: its units are to be shipped again, and their stock is
     * reserved again. Captured money stays captured. Voiding the shipment again does nothing. @throws as
     * `ship`; `ORDER_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_LEFT`
     */
    voidShipment: async (
      { id: order_id, shipment_id: id }: { id: string; shipment_id: string },
      reason: string,
      actor: OrderActor,
      write: IdempotentWrite
    ): Promise<void> => {
      await write.once(db, async tx => {
        const locked = await changes.lock(tx, order_id)
        write.expect(locked.order.version, orderStaleError)
        const parcel = found(
          await tx.first(repository.findOrderShipment, { id, order_id }),
          orderShipmentNotFoundError
        )
        if (parcel.voided_at !== null) return
        changes.assertAllowed(locked, 'void_shipment', actor)
        const refusal = findShipmentVoidRefusalReason(locked.lines, parcel.lines)
        if (refusal !== undefined)
          throw orderActionRefusedError({ details: { action: 'void_shipment', reason: refusal } })
        await shipping?.voidParcel(tx, { shipmentId: id, actor: actor.id, reason })
        await reopenShipping(tx, locked, parcel.lines)
        await changes.transition(tx, locked, 'void_shipment', actor, {
          lines: reduceShippedUnitsOfLines(locked.lines, parcel.lines)
        })
        await tx.run(repository.markShipmentVoided, { id, actor: actor.id, reason })
        await inventory?.post(tx, {
          id: derivedId(id, 'void'),
          kind: 'unship',
          owner: order_id,
          shipment: id
        })
        const { number, customer_id } = locked.order
        emit(tx, orderShipmentVoidedEvent, eventSubjectOfLockedOrder(tx, order_id), {
          order_id,
          number,
          customer_id,
          shipment_id: id
        })
      })
    },

    /**
     * Voids a wrong tracking event. Reopens the order if the shop had completed it automatically because of
     * the event.
     * @throws as `ship`; `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_EVENT_NOT_FOUND`
     */
    voidEvent: async (
      { id: order_id, shipment_id, event_id }: { id: string; shipment_id: string; event_id: string },
      reason: string,
      actor: OrderActor,
      write: IdempotentWrite
    ): Promise<void> => {
      await write.once(db, async tx => {
        const locked = await changes.lock(tx, order_id)
        write.expect(locked.order.version, orderStaleError)
        changes.assertAllowed(locked, 'void_event', actor)
        if (shipping === undefined) throw orderShipmentNotFoundError()
        const event = {
          orderId: order_id,
          shipmentId: shipment_id,
          eventId: event_id,
          actor: actor.id,
          reason
        }
        const correction = await shipping.voidEvent(tx, event)
        if (correction === undefined) return
        const { before, since, after } = correction
        const consequences =
          before === after
            ? undefined
            : await tx.first(repository.findOrderActionsSinceTrackingEvent, { order_id, since })
        const dependsOn = consequences?.depends_on ?? null
        if (dependsOn !== null)
          throw orderActionRefusedError({
            details: { action: 'void_event', reason: REFUSAL_AFTER[dependsOn] }
          })
        const changed = await changes.transition(tx, locked, 'void_event', actor)
        if (
          changed.lifecycle.state === 'completed' &&
          after === 'in_transit' &&
          consequences?.is_completed_by_system
        )
          await changes.transition(tx, changed, 'reopen', actor)
      })
    },

    /** Records returned units. `restock`: whether they go back to stock. @throws as `ship` */
    recordReturn: async (
      order_id: string,
      { lines: units, restock }: { lines: readonly OrderLineQuantity[]; restock: boolean },
      actor: OrderActor,
      write: IdempotentWrite
    ): Promise<void> => {
      await write.once(db, async tx => {
        const locked = await changes.lock(tx, order_id)
        write.expect(locked.order.version, orderStaleError)
        changes.assertAllowed(locked, 'return', actor)
        await changes.transition(tx, locked, 'return', actor, {
          lines: addToOrderLineCounters(locked.lines, 'return', units)
        })
        if (!restock) return
        const lines = stockLinesOfUnits(locked, units)
        await inventory?.post(tx, { id: write.id, kind: 'return', owner: order_id, lines })
      })
    }
  }
}
export type FulfilmentService = ReturnType<typeof createFulfilmentService>

/**
 * Captures the authorized amount with the first shipment. Providers void the rest of an authorization on
 * capture. The payment status of the order changes only when the provider has captured it.
 */
async function captureAuthorized(
  { account }: OrderUnderLock,
  id: string,
  { id: actor }: OrderActor
): Promise<void> {
  if (account === undefined) return
  const { authorized, due, captured } = account.state()
  const amountMinor = Math.min(authorized, due - captured)
  if (amountMinor > 0) await account.capture({ id, amountMinor, actor })
}

const definedOf = ({ carrier, tracking_number }: ShipmentLabel) => ({
  ...(carrier !== undefined && { carrier }),
  ...(tracking_number !== undefined && { tracking_number })
})
