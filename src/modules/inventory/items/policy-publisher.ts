import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { AvailabilityChangeBroadcaster } from '../availability/changes.ts'
import { type AvailableQuantity, readAvailableQuantities } from '../availability/service.ts'
import { stockCrossedEvent } from '../events.ts'
import * as repository from './repository.ts'

type Item = Pick<repository.InventoryItemRow, 'id' | 'tracked' | 'low_threshold'>

export type StockPolicyPublisher = {
  /** Publishes in `tx` that the stock policy or the parts of these items changed. */
  announce(tx: Transaction, items: readonly Item[]): Promise<void>
}

/** Publishes the status of variants whose stock policy an administrator changed. */
export const createStockPolicyChangePublisher = ({
  changes,
  emit
}: {
  changes: AvailabilityChangeBroadcaster
  emit: Emit
}): StockPolicyPublisher => ({
  announce: async (tx, items) => {
    const ids = items.map(({ id }) => id)
    const kits = await tx.rows(repository.listKitsOfItems, { ids })
    const available = await readAvailableQuantities(tx, ids)
    items.forEach((item, index) => {
      const ofKits = kits.filter(kit => kit.item_id === item.id).map(kit => kit.variant_id)
      const variant_ids = [item.id, ...ofKits]
      const number = available[index] ?? null
      changes.announce(tx, variant_ids)
      emit(tx, stockCrossedEvent, item.id, {
        item_id: item.id,
        variant_ids,
        available: number,
        status: statusOf(item, number)
      })
    })
  }
})

/** A kit's status follows from its parts, whether or not the kit itself is tracked. */
function statusOf({ tracked, low_threshold }: Item, available: AvailableQuantity) {
  if (available === null) return tracked ? 'in' : 'untracked'
  if (available <= 0) return 'out'
  return available <= (low_threshold ?? 0) ? 'low' : 'in'
}
