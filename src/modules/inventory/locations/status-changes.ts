import { defineJob } from '../../../kernel/events.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { Id } from '../../../kernel/wire.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { findStockStatusChanges } from '../decisions/status-changes.ts'
import { type StockBatchPublisher, stockPolicyFromRow } from '../writer/batch.ts'
import type { KitComponentCache } from '../writer/kit-components.ts'
import { listItemsAtLocation } from './repository.ts'

export const announceStockLocationChangeJob = defineJob(
  'inventory.announce_location',
  {
    description: 'Publishes stock changes after a location was activated or deactivated.',
    timeoutSeconds: 600
  },
  { location_id: Id }
)

const PAGE_ITEMS = 500

type Deps = {
  db: Pick<Database, 'transaction'>
  kits: Pick<KitComponentCache, 'of'>
  publisher: Pick<StockBatchPublisher, 'emitCrossed'>
}

/**
 * Publishes which items crossed a threshold because a location was activated or deactivated. Handles one
 * page of items per transaction, with their current levels, so a retry publishes the same.
 */
export async function publishStockStatusChangesAtLocation(
  deps: Deps,
  locationId: string,
  signal: AbortSignal
): Promise<void> {
  let last = await publishPage(deps, locationId, LOWEST_ID)
  while (last !== undefined) {
    signal.throwIfAborted()
    last = await publishPage(deps, locationId, last)
  }
}

/** Publishes the crossings of one page of items. Returns the last item id when there may be more items. */
async function publishPage(
  { db, kits, publisher }: Deps,
  locationId: string,
  after: string
): Promise<string | undefined> {
  const kitsOf = await kits.of()
  return db.transaction(async tx => {
    const rows = await tx.rows(listItemsAtLocation, { locationId, after, limit: PAGE_ITEMS })
    for (const { levels: now, ...row } of rows) {
      const before = now.map(level => (level.isHere ? { ...level, active: !level.active } : level))
      for (const crossing of findStockStatusChanges(stockPolicyFromRow(row), kitsOf.get(row.id), {
        before,
        now
      }))
        publisher.emitCrossed(tx, crossing)
    }
    return rows.length < PAGE_ITEMS ? undefined : rows.at(-1)?.id
  })
}
