import { FIRST_ID } from '../../../kernel/ids.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Statement } from '../../../platform/postgres/statement.ts'
import type { ListPrices } from '../list-prices/service.ts'
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

type Deps = { db: Database; currency: string; listPrices: Pick<ListPrices, 'reprice' | 'refreshSoon'> }

/** What products cost at least, in the catalog's own prices and in those of price lists: kept for lists of products. */
export function createLowestPrices({ db, currency, listPrices }: Deps) {
  /** Brings those of these products, which `tx` has locked, up to date. */
  async function reprice(tx: Transaction, productIds: readonly string[]): Promise<void> {
    await tx.run(repository.repriceProducts, { ids: productIds, currency })
    await listPrices.reprice(tx, productIds)
  }

  /** Products that somebody is changing at this moment are left to them: nobody waits for an import here. */
  async function repriceFree(tx: Transaction, products: readonly Identified[]): Promise<void> {
    const free = await tx.rows(repository.lockFreeProducts, { ids: idsOf(products) })
    await reprice(tx, idsOf(free))
  }

  /**
   * Notes the starts and ends of discounts that have passed: a new revision, and new lowest prices for the products
   * concerned. When these are too many to be done at once, all are brought up to date in the background.
   */
  async function repriceDue(): Promise<void> {
    const areFew = await db.transaction(async tx => {
      const due = await tx.rows(repository.listDueProducts, { limit: REPRICED_AT_ONCE_MAX + 1 })
      const areFew = due.length <= REPRICED_AT_ONCE_MAX
      if (areFew) await repriceFree(tx, due)
      else listPrices.refreshSoon(tx)
      await tx.run(repository.markPriced)
      return areFew
    })
    if (!areFew) repriceSoon()
  }

  /** Brings those of all products up to date, a chunk at a time, and answers how many were not. */
  async function repriceAll(): Promise<number> {
    let changed = 0
    const listAfter = (after: string) => db.rows(repository.listProductsAfter, { after, limit: CHUNK })
    let chunk = await listAfter(FIRST_ID)
    for (let last = chunk.at(-1); last !== undefined; last = chunk.at(-1)) {
      const mispriced = await db.rows(repository.listMispriced, { ids: idsOf(chunk), currency })
      if (mispriced.length > 0) await db.transaction(tx => repriceFree(tx, mispriced))
      changed += mispriced.length
      chunk = await listAfter(last.id)
    }
    if (changed > 0) await db.transaction(tx => tx.run(repository.raiseRevision))
    return changed
  }

  // What fails in the background is left to the chore that does the same every few minutes.
  const repriceSoon = oneAtATime(() => repriceAll().catch(() => {}))

  return { reprice, repriceDue, repriceAll, repriceSoon, refreshListsSoon: listPrices.refreshSoon }
}
export type LowestPrices = ReturnType<typeof createLowestPrices>

/** Starts `work`, which does not fail, unless it runs; then it runs once more for all who asked meanwhile. */
function oneAtATime(work: () => Promise<unknown>): () => void {
  let isWanted = false
  let isRunning = false
  const run = async () => {
    isRunning = true
    while (isWanted) {
      isWanted = false
      await work()
    }
    isRunning = false
  }
  return () => {
    isWanted = true
    if (!isRunning) run()
  }
}

type Identified = { readonly id: string }
const idsOf = (rows: readonly Identified[]): string[] => rows.map(({ id }) => id)
