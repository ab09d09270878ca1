import { LOWEST_ID, newId } from '../../../kernel/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { StockLevel, StockMovement } from '../decisions/state.ts'
import { findStockStatusChanges } from '../decisions/status-changes.ts'
import {
  type StockBatchPublisher,
  stockLevelFromRow,
  stockPolicyFromRow,
  writeStockBatchDecision
} from '../writer/batch.ts'
import type { KitComponentCache } from '../writer/kit-components.ts'
import { insertMissingStockLevels, listStockPolicies, lockStockLevels } from '../writer/repository.ts'
import { assessStockLedgerLevel, type StockLedgerLevelAssessment } from './findings.ts'
import * as repository from './repository.ts'

export type StockLedgerRepairDeps = {
  db: Pick<Database, 'transaction'>
  kits: Pick<KitComponentCache, 'of'>
  publisher: Pick<StockBatchPublisher, 'emitCrossed' | 'invalidate'>
  log: Log
}

/**
 * Repairs the ledger of one item with all of its levels locked, as the writer does. At `missing` locations
 * levels of a tracked item are created first, from their movements.
 */
export const repairStockLedgerOfItem = (
  { db, kits, publisher, log }: StockLedgerRepairDeps,
  { itemId, missing, actor }: { itemId: string; missing: readonly string[]; actor: string | null }
): Promise<void> =>
  db.transaction(async tx => {
    const lock = async () => (await tx.rows(lockStockLevels, { itemIds: [itemId] })).map(stockLevelFromRow)
    const before = await lock()
    if (missing.length > 0)
      await tx.run(insertMissingStockLevels, { itemIds: missing.map(() => itemId), locationIds: missing })
    const levels = missing.length > 0 ? await lock() : before
    const now: StockLevel[] = []
    // The sums are read after the levels are locked, so that no concurrent change is missed.
    const place = { afterItemId: itemId, afterLocationId: LOWEST_ID }
    for (const ledger of await tx.rows(repository.listStockLedgerLevels, {
      ...place,
      limit: levels.length
    })) {
      const level = levels.find(each => each.locationId === ledger.location_id)
      if (ledger.item_id === itemId && level !== undefined)
        now.push(await repairLevel(tx, level, assessStockLedgerLevel(ledger), { log, actor }))
    }
    const row = await tx.first(listStockPolicies, { itemIds: [itemId] })
    if (row === undefined) return
    const ofItem = (await kits.of()).get(itemId)
    for (const each of findStockStatusChanges(stockPolicyFromRow(row), ofItem, { before, now }))
      publisher.emitCrossed(tx, each)
    tx.afterCommit(() => publisher.invalidate([itemId, ...(ofItem ?? []).map(({ variantId }) => variantId)]))
  })

/** Returns the repaired level. */
async function repairLevel(
  tx: Transaction,
  level: StockLevel,
  { inserted, lastSeq, level: balance }: StockLedgerLevelAssessment,
  { log, actor }: { log: Log; actor: string | null }
): Promise<StockLevel> {
  const { itemId, locationId } = level
  if (lastSeq !== undefined) {
    const removed = await tx.rows(repository.deleteStockMovementsAfter, { itemId, locationId, lastSeq })
    for (const movement of removed)
      log.warn({ movement }, 'a stock movement without effect on its level was removed')
  }
  const operation = newId()
  const movements = inserted.map((each): StockMovement => {
    const about = {
      operation,
      owner: null,
      actor,
      reason: 'books did not agree'
    } as const
    return { itemId, locationId, ...each, allowedAfter: null, ...about }
  })
  const mended = { ...level, ...balance }
  const levels = balance === undefined ? [] : [mended]
  await writeStockBatchDecision(tx, { levels, movements, inserted: [], updated: [] })
  return mended
}
