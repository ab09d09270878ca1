import type { JobDelivery } from '../../../kernel/events.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { listWrongLowStockMarks, lockInventoryItems, updateItemLowStockMarks } from './repository.ts'

const PAGE_ITEMS = 500

/**
 * Marks items as low in stock, or no longer low, after their stock crossed a threshold. Reads the stock
 * again, because another change may be newer than the event.
 */
export const refreshLowStockMarks = (tx: Transaction, events: readonly JobDelivery[]): Promise<void> =>
  mark(
    tx,
    events.map(({ subject }) => subject)
  )

/**
 * Corrects the low-stock marks that are wrong. A sale that commits while a threshold is changed sees the
 * old threshold and emits no event.
 */
export async function correctLowStockMarks(
  db: Pick<Database, 'rows' | 'transaction'>,
  signal: AbortSignal
): Promise<void> {
  const ids = (await db.rows(listWrongLowStockMarks)).map(({ id }) => id)
  for (let from = 0; from < ids.length; from += PAGE_ITEMS) {
    signal.throwIfAborted()
    await db.transaction(tx => mark(tx, ids.slice(from, from + PAGE_ITEMS)))
  }
}

/** Locks the items in id order first, so that concurrent transactions cannot deadlock. */
async function mark(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.rows(lockInventoryItems, { ids })
  await tx.run(updateItemLowStockMarks, { ids })
}
