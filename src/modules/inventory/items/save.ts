import type { Transaction } from '../../../platform/postgres/database.ts'
import type { Crossings } from './crossings.ts'
import { type ItemRow, listFresh, markLowStock, updateItems } from './repository.ts'

type Changed = { readonly before: ItemRow; readonly now: ItemRow }
export type SaveItems = (
  tx: Transaction,
  items: readonly Changed[],
  /** Those of which there are some, as is said as well. */
  coming?: ReadonlySet<string>
) => Promise<number>

const isOther = (one: ItemRow, other: ItemRow, keys: readonly (keyof ItemRow)[]) =>
  keys.some(key => one[key] !== other[key])
const COUNTED = ['tracked', 'backorder', 'backorder_limit', 'low_threshold'] as const

/**
 * Writes those of these items, which `tx` has locked, that are others now, and announces what is counted otherwise. Answers
 * how many there were.
 */
export const createSaveItems =
  ({ crossings }: { crossings: Crossings }): SaveItems =>
  async (tx, items, coming = new Set()) => {
    const changed = items.filter(({ before, now }) => isOther(before, now, [...COUNTED, 'sku']))
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
    const counted = changed.filter(({ before, now }) => isOther(before, now, COUNTED))
    if (counted.length > 0) await tx.run(markLowStock, { ids: counted.map(({ now }) => now.id) })
    const news = await withoutComing(
      tx,
      counted.map(({ now }) => now),
      coming
    )
    if (news.length > 0) await crossings.announce(tx, news)
    return changed.length
  }

/**
 * Between the moment from which on an item is counted and its first count, which comes at once, nothing is there.
 * Nobody is told of that moment: the count tells that there are some.
 */
async function withoutComing(
  tx: Transaction,
  items: readonly ItemRow[],
  coming: ReadonlySet<string>
): Promise<readonly ItemRow[]> {
  const ids = items.filter(({ id, tracked }) => tracked && coming.has(id)).map(({ id }) => id)
  if (ids.length === 0) return items
  const fresh = new Set((await tx.rows(listFresh, { ids })).map(({ id }) => id))
  return items.filter(({ id }) => !fresh.has(id))
}
