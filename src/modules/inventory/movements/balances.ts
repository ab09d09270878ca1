import { LOWEST_ID } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { sumOldStockMovements } from './balance-repository.ts'

/** At most 5,000 movements are deleted in one transaction. */
const STEP = { levels: 50, movements: 100 }

/**
 * Sums the movements before a time to one balance for each level, in steps. An aborted run continues with the next one.
 * Returns how many movements were deleted.
 */
export async function sumStockMovementsBefore(
  db: Pick<Database, 'transaction'>,
  before: Date,
  signal: AbortSignal,
  step = STEP
): Promise<number> {
  let total = 0
  let place = { afterItemId: LOWEST_ID, afterLocationId: LOWEST_ID }
  for (;;) {
    signal.throwIfAborted()
    const done = await db.transaction(tx => tx.first(sumOldStockMovements, { ...place, ...step, before }))
    total += done?.deleted ?? 0
    // A level with more movements than a step takes is summed again.
    if (done !== undefined && done.deleted > 0) continue
    if (done?.item_id == null || done.location_id === null) return total
    place = { afterItemId: done.item_id, afterLocationId: done.location_id }
  }
}
