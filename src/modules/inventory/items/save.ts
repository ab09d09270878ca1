import type { Transaction } from '../../../platform/postgres/database.ts'
import type { Crossings } from './crossings.ts'
import { type ItemRow, listNewItems, markLowStock, updateItems } from './repository.ts'

type ItemChange = { readonly before: ItemRow; readonly now: ItemRow }
export type SaveItems = (
  tx: Transaction,
  items: readonly ItemChange[],
  /** Items whose first count follows in the same transaction and is above zero. */
  coming?: ReadonlySet<string>
) => Promise<number>

const hasChanged = (one: ItemRow, other: ItemRow, keys: readonly (keyof ItemRow)[]) =>
  keys.some(key => one[key] !== other[key])
const POLICY_FIELDS = ['tracked', 'backorder', 'backorder_limit', 'low_threshold'] as const

/**
 * Writes the changed items, which `tx` has locked, and publishes changed stock policies. Returns the
 * number of changed items.
 */
export const createSaveItems =
  ({ crossings }: { crossings: Crossings }): SaveItems =>
  async (tx, items, coming = new Set()) => {
    const changed = items.filter(({ before, now }) => hasChanged(before, now, [...POLICY_FIELDS, 'sku']))
    if (changed.length === 0) return 0
    const rows = changed.map(({ now }) => now)
    await tx.run(updateItems, {
      ids: rows.map(({ id }) => id),
      skus: rows.map(({ sku }) => sku ?? ''),
      tracked: rows.map(({ tracked }) => tracked),
      backorders: rows.map(({ backorder }) => backorder),
      limits: rows.map(({ backorder_limit }) => backorder_limit ?? -1),
      thresholds: rows.map(({ low_threshold }) => low_threshold ?? -1)
    })
    const counted = changed.filter(({ before, now }) => hasChanged(before, now, POLICY_FIELDS))
    if (counted.length > 0) await tx.run(markLowStock, { ids: counted.map(({ now }) => now.id) })
    const crossedItems = await withoutAwaitingCount(
      tx,
      counted.map(({ now }) => now),
      coming
    )
    if (crossedItems.length > 0) await crossings.announce(tx, crossedItems)
    return changed.length
  }

/**
 * Drops newly tracked items whose first count follows immediately. They would be published as sold out,
 * although the count makes them available.
 */
async function withoutAwaitingCount(
  tx: Transaction,
  items: readonly ItemRow[],
  coming: ReadonlySet<string>
): Promise<readonly ItemRow[]> {
  const ids = items.filter(({ id, tracked }) => tracked && coming.has(id)).map(({ id }) => id)
  if (ids.length === 0) return items
  const fresh = new Set((await tx.rows(listNewItems, { ids })).map(({ id }) => id))
  return items.filter(({ id }) => !fresh.has(id))
}
