import { newId } from '../../../kernel/ids.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Timers } from '../../../platform/timers.ts'
import { AVAILABILITY_CHANGE_RETENTION_SECONDS } from '../availability/cache.ts'
import { deleteOldAvailabilityChanges } from '../availability/repository.ts'
import { deleteOldStockRequests } from '../writer/requests-repository.ts'
import type { StockWriter } from '../writer/writer.ts'
import {
  deleteOldClosedReservations,
  deleteOldContestedStockUnits,
  listExpiredReservations
} from './repository.ts'

const DUE_SECONDS = 5
const DUE_MAX = 500
const OLD_SECONDS = 600
const OLD_MAX = 1_000
const WAIT_MS = 5_000

/** Registers the timers that expire reservations and delete old rows. */
export function startStockExpiryAndCleanupTimers({
  timers,
  db,
  writer
}: {
  timers: Timers
  db: Queryable
  writer: StockWriter
}): void {
  timers.every(DUE_SECONDS, 'inventory.expire', () => expireStockReservations(db, writer))
  const limit = OLD_MAX
  timers.untilEmpty(AVAILABILITY_CHANGE_RETENTION_SECONDS, 'inventory.delete_changes', () =>
    db.run(deleteOldAvailabilityChanges, { keptSeconds: AVAILABILITY_CHANGE_RETENTION_SECONDS, limit })
  )
  timers.untilEmpty(OLD_SECONDS, 'inventory.delete_requests', () => db.run(deleteOldStockRequests, { limit }))
  timers.untilEmpty(OLD_SECONDS, 'inventory.delete_contested', () =>
    db.run(deleteOldContestedStockUnits, { limit })
  )
  timers.untilEmpty(OLD_SECONDS, 'inventory.delete_reservations', () =>
    db.run(deleteOldClosedReservations, { limit })
  )
}

/** Releases expired held reservations. Returns how many owners were handled. */
export async function expireStockReservations(db: Queryable, writer: StockWriter): Promise<number> {
  const due = await db.rows(listExpiredReservations, { limit: DUE_MAX })
  const deadlineAt = performance.now() + WAIT_MS
  const expired = due.map(async ({ owner, item_ids: itemIds }) =>
    writer.push({ kind: 'expire', id: newId(), owner, itemIds }, deadlineAt)
  )
  // The next run finds a rejected expiry again.
  const ended = await Promise.allSettled(expired)
  return ended.filter(({ status }) => status === 'fulfilled').length
}
