import { FIRST_ID, newId } from '../../../kernel/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Level, Movement } from '../stock/state.ts'
import { levelOf, write } from '../writer/batch.ts'
import { insertLevels, lockLevels } from '../writer/repository.ts'
import { type Judged, judge } from './findings.ts'
import * as repository from './repository.ts'

type MendingDeps = { db: Pick<Database, 'transaction'>; log: Log }
type Place = { readonly itemId: string; readonly locationId: string }

/** Puts the books of one item right, as the writer changes them: with all of its levels locked, or nothing. */
export const mendItem = ({ db, log }: MendingDeps, itemId: string): Promise<void> =>
  db.transaction(async tx => {
    const levels = (await tx.rows(lockLevels, { itemIds: [itemId] })).map(levelOf)
    // Read behind the lock, so nothing of it is under way any more.
    const place = { afterItemId: itemId, afterLocationId: FIRST_ID }
    for (const books of await tx.rows(repository.listBooks, { ...place, limit: levels.length })) {
      const level = levels.find(each => each.locationId === books.location_id)
      if (books.item_id === itemId && level !== undefined) await mend(tx, level, judge(books), log)
    }
  })

async function mend(
  tx: Transaction,
  level: Level,
  { inserted, lastSeq, level: now }: Judged,
  log: Log
): Promise<void> {
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
      actor: null,
      reason: 'books did not agree'
    } as const
    return { itemId, locationId, ...each, allowedAfter: null, ...about }
  })
  const levels = now === undefined ? [] : [{ ...level, ...now }]
  await write(tx, { levels, movements, inserted: [], updated: [] })
}

/** Makes levels of items that are counted; what they are follows from their movements. */
export async function makeLevels({ db }: MendingDeps, places: readonly Place[]): Promise<void> {
  await db.transaction(tx =>
    tx.run(insertLevels, {
      itemIds: places.map(({ itemId }) => itemId),
      locationIds: places.map(({ locationId }) => locationId)
    })
  )
}
