import type { Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { Changes } from '../revision/changes.ts'
import * as repository from './repository.ts'

type Deps = { inventory: Pick<InventoryApi, 'availableIn'>; changes: Changes }

/** As far as stock goes, a variant can be bought. */
export const isInStock = (available: number | null): boolean => available === null || available > 0

/**
 * Brings what lists say of the stock of these variants up to date, within `tx`. It asks what is true now, so that neither
 * the order nor the number of times matters in which it is told to.
 */
export async function keepInStock(tx: Transaction, variantIds: readonly string[], deps: Deps): Promise<void> {
  const ids = [...new Set(variantIds)]
  // Products before variants, as whoever changes a variant does.
  await tx.rows(repository.lockProducts, { variantIds: ids })
  const available = await deps.inventory.availableIn(tx, ids)
  const inStock = ids.filter((_id, index) => isInStock(available[index] ?? null))
  const changed = await tx.rows(repository.updateInStock, { variantIds: ids, inStock })
  const productIds = [...new Set(changed.map(row => row.product_id))]
  if (productIds.length > 0) await deps.changes.announce(tx, productIds)
}
