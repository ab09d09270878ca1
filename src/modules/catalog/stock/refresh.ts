import { LOWEST_ID } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { CatalogChangePublisher } from '../revision/changes.ts'
import * as repository from './repository.ts'
import { isInStock, refreshVariantInStockFlags } from './subscriber.ts'

const CHUNK = 2_000

type Deps = {
  db: Database
  changes: CatalogChangePublisher
  inventory: Pick<InventoryApi, 'availableIn' | 'upsertItems'>
}

/**
 * Sends the SKUs of all variants to the inventory and refreshes their `in_stock`, because changes are missed
 * while one of the two modules is disabled. Returns the number of variants that changed.
 */
export async function refreshAllStockStatuses({ db, changes, inventory }: Deps): Promise<number> {
  let refreshed = 0
  const listAfter = (after: string) => db.rows(repository.listVariantsAfter, { after, limit: CHUNK })
  let chunk = await listAfter(LOWEST_ID)
  for (let last = chunk.at(-1); last !== undefined; last = chunk.at(-1)) {
    const described = chunk.map(({ id, sku }) => ({ variantId: id, sku }))
    await db.transaction(tx => inventory.upsertItems(tx, described))
    const ids = chunk.map(({ id }) => id)
    const available = await inventory.availableIn(db, ids)
    const stale = chunk.filter(({ in_stock }, index) => isInStock(available[index] ?? null) !== in_stock)
    const staleIds = stale.map(({ id }) => id)
    if (staleIds.length > 0)
      await db.transaction(tx => refreshVariantInStockFlags(tx, staleIds, { inventory, changes }))
    refreshed += stale.length
    chunk = await listAfter(last.id)
  }
  return refreshed
}
