import type { Consumer } from '../../../platform/outbox/handlers.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { type Changes, SYSTEM } from '../changes/service.ts'
import { refusalOf } from '../life/actions.ts'

type Arrival = { order_id: string; shipment_id: string }
type Deps = { changes: Changes; shipping: Pick<ShippingApi, 'told'> | undefined }

/** What parcels are told to be, by what orders remember of it. */
const TOLD = { deliver: 'delivered', come_back: 'returned' } as const

/**
 * An order remembers what becomes of its parcels. That something happened to it is also why it is completed later: buyers have
 * the time to send something back from the day on which the last parcel has arrived.
 */
export function createArrivals({ changes, shipping }: Deps, action: keyof typeof TOLD): Consumer<Arrival> {
  return async (tx, events) => {
    // In one order, so that nobody waits for somebody who waits for them.
    const parcels = events.map(({ payload }) => payload)
    for (const { order_id, shipment_id } of parcels.toSorted(byOrder)) {
      const hand = await changes.take(tx, order_id)
      if (refusalOf(action, hand.life, 'system', 'never') !== undefined) continue
      // What was wrong may have been voided before this was heard of; whoever voids holds the order.
      const told = await shipping?.told(tx, [shipment_id], TOLD[action])
      if (told === undefined || told.has(shipment_id)) await changes.write(tx, hand, action, SYSTEM)
    }
  }
}

const byOrder = (a: Arrival, b: Arrival) => (a.order_id < b.order_id ? -1 : Number(a.order_id > b.order_id))
