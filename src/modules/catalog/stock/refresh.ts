import { FIRST_ID } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { Changes } from '../revision/changes.ts'
import { isInStock, keepInStock } from './consumer.ts'
import * as repository from './repository.ts'

const CHUNK = 2_000

type Deps = { db: Database; changes: Changes; inventory: Pick<InventoryApi, 'availableIn' | 'describe'> }

/**
 * Tells the inventory what all variants are called, and brings what lists say of their stock up to date: whatever was
 * missed while one of the two modules was switched off. Answers of how many variants something else is said now.
 */
export async function refreshStock({ db, changes, inventory }: Deps): Promise<number> {
  let refreshed = 0
  const listAfter = (after: string) => db.rows(repository.listVariantsAfter, { after, limit: CHUNK })
  let chunk = await listAfter(FIRST_ID)
  for (let last = chunk.at(-1); last !== undefined; last = chunk.at(-1)) {
    const described = chunk.map(({ id, sku }) => ({ variantId: id, sku }))
    await db.transaction(tx => inventory.describe(tx, described))
    const ids = chunk.map(({ id }) => id)
    const available = await inventory.availableIn(db, ids)
    const stale = chunk.filter(({ in_stock }, index) => isInStock(available[index] ?? null) !== in_stock)
    const staleIds = stale.map(({ id }) => id)
    if (staleIds.length > 0) await db.transaction(tx => keepInStock(tx, staleIds, { inventory, changes }))
    refreshed += stale.length
    chunk = await listAfter(last.id)
  }
  return refreshed
}
