import { newId } from '../../../kernel/ids.ts'
import type { Chores } from '../../../platform/chores.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { NOTED_SECONDS } from '../availability/cache.ts'
import { deleteChanges } from '../availability/repository.ts'
import { deleteRequests } from '../requests/repository.ts'
import type { Writer } from '../writer/writer.ts'
import { deleteOldContested, deleteReservations, listDue } from './repository.ts'

const DUE_SECONDS = 5
const DUE_MAX = 500
const OLD_SECONDS = 600
const OLD_MAX = 1_000
const WAIT_MS = 5_000

/** Gives back what is due, and forgets what is over. */
export function startSweeps({ chores, db, writer }: { chores: Chores; db: Queryable; writer: Writer }): void {
  chores.every(DUE_SECONDS, 'inventory.expire', () => expireDue(db, writer))
  const limit = OLD_MAX
  chores.sweep(NOTED_SECONDS, 'inventory.delete_changes', () =>
    db.run(deleteChanges, { keptSeconds: NOTED_SECONDS, limit })
  )
  chores.sweep(OLD_SECONDS, 'inventory.delete_requests', () => db.run(deleteRequests, { limit }))
  chores.sweep(OLD_SECONDS, 'inventory.delete_contested', () => db.run(deleteOldContested, { limit }))
  chores.sweep(OLD_SECONDS, 'inventory.delete_reservations', () => db.run(deleteReservations, { limit }))
}

/** Gives back what was held for too long; by then whoever held it has ended, or forgotten it. */
export async function expireDue(db: Queryable, writer: Writer): Promise<number> {
  const due = await db.rows(listDue, { limit: DUE_MAX })
  const deadlineAt = performance.now() + WAIT_MS
  const expired = due.map(async ({ owner, item_ids: itemIds }) =>
    writer.push({ kind: 'expire', id: newId(), owner, itemIds }, deadlineAt)
  )
  // One that is refused is found again.
  const ended = await Promise.allSettled(expired)
  return ended.filter(({ status }) => status === 'fulfilled').length
}
