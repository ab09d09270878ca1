import { LOWEST_ID } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { PricingApi } from '../../pricing/index.ts'
import { deletePricesExceptOfPriceLists } from '../list-prices/repository.ts'
import { PRICES_PER_TRANSACTION_MAX, type ProductPricesInPriceLists } from '../list-prices/service.ts'
import type { CatalogChangePublisher } from './changes.ts'
import { listProductIdsAfter, lockProductRows } from './repository.ts'

const CHUNK = 200

type Deps = {
  db: Database
  changes: Pick<CatalogChangePublisher, 'announcePages'>
  listPrices: Pick<ProductPricesInPriceLists, 'reprice'>
  pricing: Pick<PricingApi, 'marketLists'>
}

/**
 * Updates the lowest prices of all products in the price lists that inherit from `listId`, or in all, a chunk
 * per transaction. Deletes the prices of lists that no market has. Idempotent.
 */
export async function refreshAllLowestListPrices(
  deps: Deps,
  listId: string | undefined,
  signal: AbortSignal
): Promise<void> {
  const { db, changes, listPrices, pricing } = deps
  const lists = (await pricing.marketLists(db)).map(({ id }) => id)
  await db.run(deletePricesExceptOfPriceLists, { lists })
  if (lists.length === 0) return
  const limit = Math.min(CHUNK, Math.floor(PRICES_PER_TRANSACTION_MAX / lists.length))
  const listAfter = (after: string) => db.rows(listProductIdsAfter, { after, limit })
  let chunk = await listAfter(LOWEST_ID)
  for (let last = chunk.at(-1); last !== undefined; last = chunk.at(-1)) {
    signal.throwIfAborted()
    const ids = chunk.map(({ id }) => id)
    await db.transaction(async tx => {
      await tx.run(lockProductRows, { ids })
      if ((await listPrices.reprice(tx, ids, listId)) > 0) changes.announcePages(tx)
    })
    chunk = await listAfter(last.id)
  }
}
