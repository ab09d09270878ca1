import type { Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { CatalogChangePublisher } from '../revision/changes.ts'
import { lockProductsOfVariants } from '../revision/repository.ts'
import * as repository from './repository.ts'

type Deps = { inventory: Pick<InventoryApi, 'availableIn'>; changes: CatalogChangePublisher }

/** Whether a variant with this available quantity is in stock. Null: stock is not counted. */
export const isInStock = (available: number | null): boolean => available === null || available > 0

/**
 * Refreshes `in_stock` of these variants, within `tx`. Reads the present stock, so that repeated or reordered
 * events give the same result.
 */
export async function refreshVariantInStockFlags(
  tx: Transaction,
  variantIds: readonly string[],
  deps: Deps
): Promise<void> {
  const ids = [...new Set(variantIds)]
  // Products are locked before variants, as in all changes of variants, to prevent deadlocks.
  await tx.rows(lockProductsOfVariants, { variantIds: ids })
  const available = await deps.inventory.availableIn(tx, ids)
  const inStock = ids.filter((_id, index) => isInStock(available[index] ?? null))
  const changed = await tx.rows(repository.updateVariantsInStock, { variantIds: ids, inStock })
  const productIds = [...new Set(changed.map(row => row.product_id))]
  if (productIds.length > 0) await deps.changes.announce(tx, productIds)
}
