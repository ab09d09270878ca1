import type { Database, Transaction } from '../../../platform/postgres.ts'
import { FIRST_ID } from '../cursor.ts'
import * as repository from './repository.ts'

const DUE_MAX = 2_000
const CHUNK = 2_000

/**
 * Notes the starts and ends of discounts that have passed: a new revision, and new lowest prices for the products
 * concerned. Of more than 2,000 the prices follow in the background, because a visitor is waiting.
 */
export async function repriceDue(db: Database, currency: string): Promise<void> {
  const areMany = await db.transaction(async tx => {
    const ids = await repository.listDue(tx, DUE_MAX + 1)
    if (ids.length <= DUE_MAX) await repriceFree(tx, ids, currency)
    await repository.markAllPriced(tx)
    return ids.length > DUE_MAX
  })
  // What fails here is left to the job that does the same every few minutes.
  if (areMany) repriceAll(db, currency).catch(() => {})
}

/** Brings the lowest prices of all products up to date, a chunk at a time, and answers how many were not. */
export async function repriceAll(db: Database, currency: string): Promise<number> {
  let changed = 0
  let ids = await repository.listProducts(db, FIRST_ID, CHUNK)
  for (let last = ids.at(-1); last !== undefined; last = ids.at(-1)) {
    const mispriced = await repository.listMispriced(db, ids, currency)
    if (mispriced.length > 0) await db.transaction(tx => repriceFree(tx, mispriced, currency))
    changed += mispriced.length
    ids = await repository.listProducts(db, last, CHUNK)
  }
  if (changed > 0) await db.transaction(tx => repository.bump(tx))
  return changed
}

/** Products that somebody is changing at this moment are left to them: nobody waits for an import here. */
async function repriceFree(tx: Transaction, productIds: readonly string[], currency: string): Promise<void> {
  const ids = await repository.lockFree(tx, productIds)
  await repository.reprice(tx, ids, currency)
}
