import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Changes } from '../availability/changes.ts'
import { stockCrossed, stockLost, stockShort, stockTaken } from '../events.ts'
import type { Tell } from './batch.ts'

/** What a batch tells every process at its commit, and consumers of events. */
export const createTell = ({ changes, emit }: { changes: Changes; emit: Emit }): Tell => ({
  changed: changes.noteHere,
  crossed: (tx, { itemId, variantIds, available, status }) => {
    changes.announce(tx, variantIds)
    emit(tx, stockCrossed, itemId, {
      item_id: itemId,
      variant_ids: [...variantIds],
      available: Number.isFinite(available) ? available : null,
      status
    })
  },
  short: (tx, { itemId, locationId, onHand, reserved, owners }) =>
    emit(tx, stockShort, itemId, {
      item_id: itemId,
      location_id: locationId,
      on_hand: onHand,
      reserved,
      owners: [...owners]
    }),
  taken: (tx, { owner, id }, isTaken) =>
    emit(tx, stockTaken, owner, { owner, request_id: id, is_taken: isTaken }),
  lost: (tx, { owner, parts }) =>
    emit(tx, stockLost, owner, {
      owner,
      items: parts.map(({ itemId: item_id, quantity }) => ({ item_id, quantity }))
    })
})
