import { FIRST_ID, newId } from '../../../kernel/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { crossingsOf } from '../decisions/crossings.ts'
import type { Movement, StockLevel } from '../decisions/state.ts'
import { itemOf, levelOf, type StockPublisher, writeDecision } from '../writer/batch.ts'
import type { KitComponents } from '../writer/kits.ts'
import { insertLevels, listItems, lockLevels } from '../writer/repository.ts'
import { assessLevel, type LevelAssessment } from './findings.ts'
import * as repository from './repository.ts'

export type RepairDeps = {
  db: Pick<Database, 'transaction'>
  kits: Pick<KitComponents, 'of'>
  publisher: Pick<StockPublisher, 'emitCrossed' | 'invalidate'>
  log: Log
}

/**
 * Repairs the ledger of one item with all of its levels locked, as the writer does. At `missing` locations
 * levels of a tracked item are created first, from their movements.
 */
export const repairItem = (
  { db, kits, publisher, log }: RepairDeps,
  { itemId, missing, actor }: { itemId: string; missing: readonly string[]; actor: string | null }
): Promise<void> =>
  db.transaction(async tx => {
    const lock = async () => (await tx.rows(lockLevels, { itemIds: [itemId] })).map(levelOf)
    const before = await lock()
    if (missing.length > 0)
      await tx.run(insertLevels, { itemIds: missing.map(() => itemId), locationIds: missing })
    const levels = missing.length > 0 ? await lock() : before
    const now: StockLevel[] = []
    // Read after locking, so no concurrent change is in flight.
    const place = { afterItemId: itemId, afterLocationId: FIRST_ID }
    for (const ledger of await tx.rows(repository.listLedgerLevels, { ...place, limit: levels.length })) {
      const level = levels.find(each => each.locationId === ledger.location_id)
      if (ledger.item_id === itemId && level !== undefined)
        now.push(await repairLevel(tx, level, assessLevel(ledger), { log, actor }))
    }
    const row = await tx.first(listItems, { itemIds: [itemId] })
    if (row === undefined) return
    const ofItem = (await kits.of()).get(itemId)
    for (const each of crossingsOf(itemOf(row), ofItem, { before, now })) publisher.emitCrossed(tx, each)
    tx.afterCommit(() => publisher.invalidate([itemId, ...(ofItem ?? []).map(({ variantId }) => variantId)]))
  })

/** Returns the repaired level. */
async function repairLevel(
  tx: Transaction,
  level: StockLevel,
  { inserted, lastSeq, level: balance }: LevelAssessment,
  { log, actor }: { log: Log; actor: string | null }
): Promise<StockLevel> {
  const { itemId, locationId } = level
  if (lastSeq !== undefined) {
    const removed = await tx.rows(repository.deleteMovements, { itemId, locationId, lastSeq })
    for (const movement of removed)
      log.warn({ movement }, 'a stock movement without effect on its level was removed')
  }
  const operation = newId()
  const movements = inserted.map((each): Movement => {
    const about = {
      kind: 'repair',
      operation,
      owner: null,
      actor,
      reason: 'books did not agree'
    } as const
    return { itemId, locationId, ...each, allowedAfter: null, ...about }
  })
  const mended = { ...level, ...balance }
  const levels = balance === undefined ? [] : [mended]
  await writeDecision(tx, { levels, movements, inserted: [], updated: [] })
  return mended
}
