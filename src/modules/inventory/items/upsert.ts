import { DomainError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { StockRequestQueue } from '../levels/service.ts'
import * as repository from './repository.ts'
import type { SaveInventoryItems } from './save.ts'

/** Input of an inventory item. Omitted fields keep their value. */
export type InventoryItemInput = {
  readonly variantId: string
  readonly sku: string
  readonly tracked?: boolean
  readonly backorder?: 'none' | 'any'
  /** Units on hand at the location with the lowest priority number. Applied only when the item is tracked. */
  readonly onHand?: number
}
/** `onHand`: as in `InventoryItemInput`; null when it was never counted. */
export type InventoryItemSummary = {
  readonly tracked: boolean
  readonly backorder: 'none' | 'limit' | 'any'
  readonly onHand: number | null
}
type PolicyFields = Partial<Pick<InventoryItemInput, 'sku' | 'tracked' | 'backorder'>>
type Deps = { saveItems: SaveInventoryItems; stockRequests: StockRequestQueue }

/** Items per statement. */
const CHUNK = 500
const REQUEST_LINES = 100
const WAIT_MS = 2_000

/** Creates and updates inventory items within the caller's transaction. Idempotent. */
export function createInventoryItemUpsert({ saveItems, stockRequests }: Deps) {
  /**
   * The last count request of each transaction, until it is applied. Requests are applied in order, so
   * earlier ones are applied by then.
   */
  const pendingCounts = new Set<string>()

  /**
   * Creates and updates items. Returns the ids of tracked ones. `coming`: items whose count above zero
   * follows.
   */
  async function updatePolicies(
    tx: Transaction,
    said: ReadonlyMap<string, PolicyFields>,
    coming: ReadonlySet<string> = new Set()
  ): Promise<ReadonlySet<string>> {
    const ids = [...said.keys()]
    await tx.run(repository.insertInventoryItems, { ids })
    const items = (await tx.rows(repository.lockInventoryItems, { ids })).map(before => {
      return { before, now: merge(before, said.get(before.id) ?? {}) }
    })
    await saveItems(tx, items, coming)
    return new Set(items.filter(({ now }) => now.tracked).map(({ now }) => now.id))
  }

  /** Posts the units on hand as count requests, which the writer applies after commit. */
  async function postCounts(tx: Transaction, variants: readonly InventoryItemInput[]) {
    const counted = variants.filter(({ onHand }) => onHand !== undefined)
    const home = counted.length === 0 ? undefined : await tx.first(repository.findDefaultLocation)
    if (home === undefined) return
    const lines = counted.map(({ variantId, onHand = null }) => ({
      itemId: variantId,
      locationId: home.id,
      onHand,
      safety: null,
      sourceVersion: null
    }))
    const requests = Array.from({ length: Math.ceil(lines.length / REQUEST_LINES) }, (_, index) => ({
      kind: 'count' as const,
      id: newId(),
      lines: lines.slice(index * REQUEST_LINES, (index + 1) * REQUEST_LINES),
      actor: null,
      reason: null
    }))
    await stockRequests.post(tx, requests)
    const last = requests.at(-1)
    if (last !== undefined) tx.afterCommit(() => pendingCounts.add(last.id))
  }

  async function areCountsApplied(): Promise<boolean> {
    const deadlineAt = performance.now() + WAIT_MS
    try {
      for (const id of pendingCounts) {
        await stockRequests.outcomeOf(id, deadlineAt)
        pendingCounts.delete(id)
      }
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'unavailable') return false
      throw error
    }
    return true
  }

  return {
    /** See `InventoryApi.upsertItems`. */
    upsertItems: async (tx: Transaction, variants: readonly InventoryItemInput[]): Promise<void> => {
      for (let start = 0; start < variants.length; start += CHUNK) {
        const some = variants.slice(start, start + CHUNK)
        const coming = some.filter(({ onHand = 0 }) => onHand > 0).map(({ variantId }) => variantId)
        const tracked = await updatePolicies(
          tx,
          new Map(some.map(each => [each.variantId, each])),
          new Set(coming)
        )
        await postCounts(
          tx,
          some.filter(each => tracked.has(each.variantId))
        )
      }
    },
    /** See `InventoryApi.areCountsApplied`. */
    areCountsApplied,
    /** Starts tracking these variants. */
    track: async (tx: Transaction, variantIds: readonly string[]): Promise<void> => {
      await updatePolicies(tx, new Map(variantIds.map(id => [id, { tracked: true }])))
    }
  }
}

/** See `InventoryApi.listItems`. */
export async function listInventoryItemSummaries(
  db: Queryable,
  ids: readonly string[]
): Promise<Map<string, InventoryItemSummary>> {
  const rows = await db.rows(repository.listItemPoliciesWithFirstLocationStock, { ids: [...ids] })
  return new Map(rows.map(({ id, on_hand, ...item }) => [id, { ...item, onHand: on_hand }]))
}

/** A new backorder rule replaces the old one and its limit. */
function merge(
  item: repository.InventoryItemRow,
  { sku, tracked, backorder }: PolicyFields
): repository.InventoryItemRow {
  const rule = backorder === undefined ? {} : { backorder, backorder_limit: null }
  return { ...item, ...(sku !== undefined && { sku }), ...(tracked !== undefined && { tracked }), ...rule }
}
