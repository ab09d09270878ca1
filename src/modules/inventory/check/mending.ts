import { FIRST_ID, newId } from '../../../kernel/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { crossingsOf } from '../stock/crossings.ts'
import type { Level, Movement } from '../stock/state.ts'
import { itemOf, levelOf, type Tell, write } from '../writer/batch.ts'
import type { Kits } from '../writer/kits.ts'
import { insertLevels, listItems, lockLevels } from '../writer/repository.ts'
import { type Judged, judge } from './findings.ts'
import * as repository from './repository.ts'

export type MendingDeps = {
  db: Pick<Database, 'transaction'>
  kits: Pick<Kits, 'of'>
  tell: Pick<Tell, 'crossed' | 'changed'>
  log: Log
}

/**
 * Puts the books of one item right, as the writer changes them: with all of its levels locked, or nothing. At `missing`
 * locations levels are made first, of an item that is counted; what they are follows from their movements.
 */
export const mendItem = (
  { db, kits, tell, log }: MendingDeps,
  { itemId, missing, actor }: { itemId: string; missing: readonly string[]; actor: string | null }
): Promise<void> =>
  db.transaction(async tx => {
    const lock = async () => (await tx.rows(lockLevels, { itemIds: [itemId] })).map(levelOf)
    const before = await lock()
    if (missing.length > 0)
      await tx.run(insertLevels, { itemIds: missing.map(() => itemId), locationIds: missing })
    const levels = missing.length > 0 ? await lock() : before
    const now: Level[] = []
    // Read behind the lock, so nothing of it is under way any more.
    const place = { afterItemId: itemId, afterLocationId: FIRST_ID }
    for (const books of await tx.rows(repository.listBooks, { ...place, limit: levels.length })) {
      const level = levels.find(each => each.locationId === books.location_id)
      if (books.item_id === itemId && level !== undefined)
        now.push(await mend(tx, level, judge(books), { log, actor }))
    }
    const row = await tx.first(listItems, { itemIds: [itemId] })
    if (row === undefined) return
    const ofItem = (await kits.of()).get(itemId)
    for (const each of crossingsOf(itemOf(row), ofItem, { before, now })) tell.crossed(tx, each)
    tx.afterCommit(() => tell.changed([itemId, ...(ofItem ?? []).map(({ variantId }) => variantId)]))
  })

/** Answers the level as it is then. */
async function mend(
  tx: Transaction,
  level: Level,
  { inserted, lastSeq, level: balance }: Judged,
  { log, actor }: { log: Log; actor: string | null }
): Promise<Level> {
  const { itemId, locationId } = level
  if (lastSeq !== undefined) {
    const removed = await tx.rows(repository.deleteMovements, { itemId, locationId, lastSeq })
    for (const movement of removed) log.warn({ movement }, 'a stock movement that never happened was removed')
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
  await write(tx, { levels, movements, inserted: [], updated: [] })
  return mended
}
