import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Changes } from '../availability/changes.ts'
import { stockCrossed, stockShort } from '../events.ts'
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
    })
})
