import { FIRST_ID } from '../../../kernel/ids.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Statement } from '../../../platform/postgres/statement.ts'
import * as repository from './repository.ts'

/** The prices of more products than these are brought up to date in the background, because somebody is waiting. */
export const REPRICED_AT_ONCE_MAX = 2_000
const CHUNK = 2_000

type ListProducts = Statement<{ id: 'uuid'; limit: 'int8' }, { product_id: 'uuid' }>

/** The products that `list` finds for `id`; one more than are repriced at once, when there are too many. */
export async function listProductIds(tx: Transaction, list: ListProducts, id: string): Promise<string[]> {
  const rows = await tx.rows(list, { id, limit: REPRICED_AT_ONCE_MAX + 1 })
  return rows.map(row => row.product_id)
}

/**
 * Notes the starts and ends of discounts that have passed: a new revision, and new lowest prices for the products
 * concerned. False when these are too many to be done at once.
 */
export async function repriceDue(db: Database, currency: string): Promise<boolean> {
  return db.transaction(async tx => {
    const due = await tx.rows(repository.listDueProducts, { limit: REPRICED_AT_ONCE_MAX + 1 })
    const areFew = due.length <= REPRICED_AT_ONCE_MAX
    if (areFew) await repriceFree(tx, due, currency)
    await tx.run(repository.markPriced)
    return areFew
  })
}

/** `repriceAll` in the background: at most one at a time, and one more for all who asked while it ran. */
export function createRepricing(db: Database, currency: string): () => void {
  let isWanted = false
  let isRunning = false
  const run = async () => {
    isRunning = true
    while (isWanted) {
      isWanted = false
      // What fails here is left to the chore that does the same every few minutes.
      await repriceAll(db, currency).catch(() => {})
    }
    isRunning = false
  }
  return () => {
    isWanted = true
    if (!isRunning) run()
  }
}

/** Brings the lowest prices of all products up to date, a chunk at a time, and answers how many were not. */
export async function repriceAll(db: Database, currency: string): Promise<number> {
  let changed = 0
  const listAfter = (after: string) => db.rows(repository.listProductsAfter, { after, limit: CHUNK })
  let chunk = await listAfter(FIRST_ID)
  for (let last = chunk.at(-1); last !== undefined; last = chunk.at(-1)) {
    const mispriced = await db.rows(repository.listMispriced, { ids: idsOf(chunk), currency })
    if (mispriced.length > 0) await db.transaction(tx => repriceFree(tx, mispriced, currency))
    changed += mispriced.length
    chunk = await listAfter(last.id)
  }
  if (changed > 0) await db.transaction(tx => tx.run(repository.raiseRevision))
  return changed
}

/** Products that somebody is changing at this moment are left to them: nobody waits for an import here. */
async function repriceFree(tx: Transaction, products: readonly Identified[], currency: string) {
  const free = await tx.rows(repository.lockFreeProducts, { ids: idsOf(products) })
  await tx.run(repository.repriceProducts, { ids: idsOf(free), currency })
}

type Identified = { readonly id: string }
const idsOf = (rows: readonly Identified[]): string[] => rows.map(({ id }) => id)
