import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { AvailabilityChangeBroadcaster } from '../availability/changes.ts'
import { stockCrossedEvent, stockLostEvent, stockShortEvent, stockTakenEvent } from '../events.ts'
import type { StockBatchPublisher } from './batch.ts'

/** Publishes the changes of a batch: broadcasts to every process, and events. */
export const createStockBatchPublisher = ({
  changes,
  emit
}: {
  changes: AvailabilityChangeBroadcaster
  emit: Emit
}): StockBatchPublisher => ({
  invalidate: changes.invalidateLocally,
  emitCrossed: (tx, { itemId, variantIds, available, status }) => {
    changes.announce(tx, variantIds)
    emit(tx, stockCrossedEvent, itemId, {
      item_id: itemId,
      variant_ids: [...variantIds],
      available: Number.isFinite(available) ? available : null,
      status
    })
  },
  emitShort: (tx, { itemId, locationId, onHand, reserved, owners }) =>
    emit(tx, stockShortEvent, itemId, {
      item_id: itemId,
      location_id: locationId,
      on_hand: onHand,
      reserved,
      owners: [...owners]
    }),
  emitTaken: (tx, { owner, id }, isTaken) =>
    emit(tx, stockTakenEvent, owner, { owner, request_id: id, is_taken: isTaken }),
  emitLost: (tx, { owner, parts }) =>
    emit(tx, stockLostEvent, owner, {
      owner,
      items: parts.map(({ itemId: item_id, quantity }) => ({ item_id, quantity }))
    })
})
