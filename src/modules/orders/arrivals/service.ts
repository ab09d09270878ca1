import type { Consumer } from '../../../platform/outbox/handlers.ts'
import { type Changes, SYSTEM } from '../changes/service.ts'
import { refusalOf } from '../life/actions.ts'

/**
 * An order remembers what becomes of its parcels. That something happened to it is also why it is completed later: buyers have
 * the time to send something back from the day on which the last parcel has arrived.
 */
export function createArrivals(
  changes: Changes,
  action: 'deliver' | 'come_back'
): Consumer<{ order_id: string; shipment_id: string }> {
  return async (tx, events) => {
    // In one order, so that nobody waits for somebody who waits for them.
    const ids = events.map(({ payload }) => payload.order_id).sort()
    for (const id of ids) {
      const hand = await changes.take(tx, id)
      if (refusalOf(action, hand.life, 'system', 'never') === undefined)
        await changes.write(tx, hand, action, SYSTEM)
    }
  }
}
