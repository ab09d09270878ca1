import { FIRST_ID } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { CatalogChanges } from '../revision/changes.ts'
import { listProductsAfter, lockProducts } from '../revision/repository.ts'
import { deleteOtherLists } from './repository.ts'
import { type ListPrices, REPRICED_IN_TRANSACTION_MAX } from './service.ts'

const CHUNK = 200

type Deps = {
  db: Database
  changes: Pick<CatalogChanges, 'announcePages'>
  listPrices: Pick<ListPrices, 'reprice'>
  pricing: Pick<PricingApi, 'marketLists'>
}

/**
 * Updates the lowest prices of all products in the price lists that inherit from `listId`, or in all, a chunk
 * per transaction. Deletes the prices of lists that no market has. Idempotent.
 */
export async function refreshAllListPrices(
  deps: Deps,
  listId: string | undefined,
  signal: AbortSignal
): Promise<void> {
  const { db, changes, listPrices, pricing } = deps
  const lists = (await pricing.marketLists(db)).map(({ id }) => id)
  await db.run(deleteOtherLists, { lists })
  if (lists.length === 0) return
  const limit = Math.min(CHUNK, Math.floor(REPRICED_IN_TRANSACTION_MAX / lists.length))
  const listAfter = (after: string) => db.rows(listProductsAfter, { after, limit })
  let chunk = await listAfter(FIRST_ID)
  for (let last = chunk.at(-1); last !== undefined; last = chunk.at(-1)) {
    signal.throwIfAborted()
    const ids = chunk.map(({ id }) => id)
    await db.transaction(async tx => {
      await tx.run(lockProducts, { ids })
      if ((await listPrices.reprice(tx, ids, listId)) > 0) changes.announcePages(tx)
    })
    chunk = await listAfter(last.id)
  }
}
