import type { Transaction } from '../../../platform/postgres/database.ts'
import type { StockPolicyPublisher } from './policy-publisher.ts'
import {
  type InventoryItemRow,
  listItemsWithoutLevels,
  updateInventoryItems,
  updateItemLowStockMarks
} from './repository.ts'

type ItemChange = { readonly before: InventoryItemRow; readonly now: InventoryItemRow }
export type SaveInventoryItems = (
  tx: Transaction,
  items: readonly ItemChange[],
  /** Items whose first count follows in the same transaction and is above zero. */
  coming?: ReadonlySet<string>
) => Promise<number>

const hasChanged = (
  one: InventoryItemRow,
  other: InventoryItemRow,
  keys: readonly (keyof InventoryItemRow)[]
) => keys.some(key => one[key] !== other[key])
const POLICY_FIELDS = ['tracked', 'backorder', 'backorder_limit', 'low_threshold'] as const

/**
 * Writes the changed items, which `tx` has locked, and publishes changed stock policies. Returns the
 * number of changed items.
 */
export const createInventoryItemSaver =
  ({ crossings }: { crossings: StockPolicyPublisher }): SaveInventoryItems =>
  async (tx, items, coming = new Set()) => {
    const changed = items.filter(({ before, now }) => hasChanged(before, now, [...POLICY_FIELDS, 'sku']))
    if (changed.length === 0) return 0
    const rows = changed.map(({ now }) => now)
    await tx.run(updateInventoryItems, {
      ids: rows.map(({ id }) => id),
      skus: rows.map(({ sku }) => sku ?? ''),
      tracked: rows.map(({ tracked }) => tracked),
      backorders: rows.map(({ backorder }) => backorder),
      limits: rows.map(({ backorder_limit }) => backorder_limit ?? -1),
      thresholds: rows.map(({ low_threshold }) => low_threshold ?? -1)
    })
    const counted = changed.filter(({ before, now }) => hasChanged(before, now, POLICY_FIELDS))
    if (counted.length > 0) await tx.run(updateItemLowStockMarks, { ids: counted.map(({ now }) => now.id) })
    const crossedItems = await withoutAwaitingCount(
      tx,
      counted.map(({ now }) => now),
      coming
    )
    if (crossedItems.length > 0) await crossings.announce(tx, crossedItems)
    return changed.length
  }

/**
 * Filters out newly tracked items whose first count follows immediately. They would be published as sold out,
 * although the count makes them available.
 */
async function withoutAwaitingCount(
  tx: Transaction,
  items: readonly InventoryItemRow[],
  coming: ReadonlySet<string>
): Promise<readonly InventoryItemRow[]> {
  const ids = items.filter(({ id, tracked }) => tracked && coming.has(id)).map(({ id }) => id)
  if (ids.length === 0) return items
  const fresh = new Set((await tx.rows(listItemsWithoutLevels, { ids })).map(({ id }) => id))
  return items.filter(({ id }) => !fresh.has(id))
}
