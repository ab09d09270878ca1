import type { EventHandler } from '../../../platform/outbox/handlers.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { findOrderActionRefusalReason } from '../lifecycle/actions.ts'
import { type OrderTransitions, SYSTEM_ACTOR } from '../lifecycle/service.ts'

type ShipmentEvent = { order_id: string; shipment_id: string }
type Deps = { changes: OrderTransitions; shipping: Pick<ShippingApi, 'findReported'> | undefined }

/** The status of a shipment that each action of an order records. */
const STATUS_OF = { deliver: 'delivered', come_back: 'returned' } as const

/**
 * Records deliveries and returns to the sender in the history of the order. Each record also restarts the
 * time until the order is completed, so the time for returns begins when the last parcel arrives.
 */
export function createShipmentEventHistoryRecorder(
  { changes, shipping }: Deps,
  action: keyof typeof STATUS_OF
): EventHandler<ShipmentEvent> {
  return async (tx, events) => {
    // Orders are locked in the order of their ids, so that two transactions never deadlock.
    const parcels = events.map(({ payload }) => payload)
    for (const { order_id, shipment_id } of parcels.toSorted(byOrder)) {
      const locked = await changes.lock(tx, order_id)
      if (findOrderActionRefusalReason(action, locked.lifecycle, 'system', 'never') !== undefined) continue
      // A wrong shipment may have been voided before this event is handled. Voiding locks the order.
      const confirmed = await shipping?.findReported(tx, [shipment_id], STATUS_OF[action])
      if (confirmed === undefined || confirmed.has(shipment_id))
        await changes.transition(tx, locked, action, SYSTEM_ACTOR)
    }
  }
}

const byOrder = (a: ShipmentEvent, b: ShipmentEvent) =>
  a.order_id < b.order_id ? -1 : Number(a.order_id > b.order_id)
