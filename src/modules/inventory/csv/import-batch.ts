import type { Transaction } from '../../../platform/postgres/database.ts'
import { type InventoryItemRow, lockInventoryItems } from '../items/repository.ts'
import type { SaveInventoryItems } from '../items/save.ts'
import type { StockRequestQueue } from '../levels/service.ts'
import type { StockLocationFinder } from './find-location.ts'
import type { StockCsvField, StockCsvHeader } from './header.ts'
import type { StockCsvRowError } from './report.ts'
import * as repository from './repository.ts'
import type { StockCsvRow } from './rows.ts'

export type StockImportDeps = {
  stockRequests: Pick<StockRequestQueue, 'post'>
  saveItems: SaveInventoryItems
}
/** Values shared by all rows of a file. */
export type StockImportContext = {
  readonly header: StockCsvHeader
  readonly findLocation: StockLocationFinder
  /**
   * Returns the id of a row's count request. It is derived from the file, so importing the file again
   * posts nothing new.
   */
  idOf(row: number): string
  readonly actor: string
  readonly reason: string
  readonly stopping: AbortSignal | undefined
}
/** Result of a batch. `requests`: the count requests of its rows. */
export type StockImportBatchResult = {
  failures: StockCsvRowError[]
  itemsChanged: number
  requests: { row: number; variant: string; isNew: boolean }[]
}
type RowCount = { row: StockCsvRow; itemId: string; locationId: string }
type RowDecision =
  | { now: InventoryItemRow; locationId: string | null }
  | { field: StockCsvField; message: string }

/** Applies the rows within `tx`. A row with an error changes nothing. */
export async function applyStockCsvRows(
  tx: Transaction,
  rows: readonly StockCsvRow[],
  { stockRequests, saveItems }: StockImportDeps,
  context: StockImportContext
): Promise<StockImportBatchResult> {
  const { header, findLocation, idOf, actor, reason } = context
  const idsOf = await findIds(tx, rows)
  const ids = new Set(rows.flatMap(idsOf))
  const before = new Map((await tx.rows(lockInventoryItems, { ids: [...ids] })).map(item => [item.id, item]))
  const now = new Map(before)
  const failures: StockCsvRowError[] = []
  const counts: RowCount[] = []
  for (const row of rows) {
    const judged = decideRow(row, idsOf(row), now, findLocation)
    if ('message' in judged) {
      const column = header.headingOf(judged.field)
      failures.push({ row: row.row, variant: row.variant, column, message: judged.message })
      continue
    }
    now.set(judged.now.id, judged.now)
    if (judged.locationId !== null) counts.push({ row, itemId: judged.now.id, locationId: judged.locationId })
  }
  const itemsChanged = await saveItems(
    tx,
    [...before].map(([itemId, item]) => ({ before: item, now: now.get(itemId) ?? item }))
  )
  const posted = await stockRequests.post(
    tx,
    counts.map(({ row: { row, onHand, safety, sourceVersion }, ...place }) => ({
      kind: 'count',
      id: idOf(row),
      lines: [{ ...place, onHand, safety, sourceVersion }],
      actor,
      reason
    }))
  )
  const requests = counts.map(({ row: { row, variant } }) => ({ row, variant, isNew: posted.has(idOf(row)) }))
  return { failures, itemsChanged, requests }
}

/** Finds the variant ids of each row: one, unless several variants have the SKU. */
async function findIds(
  tx: Transaction,
  rows: readonly StockCsvRow[]
): Promise<(row: StockCsvRow) => string[]> {
  const skus = rows.flatMap(({ variantId, sku }) => (variantId === null && sku !== null ? [sku] : []))
  const found = skus.length === 0 ? [] : await tx.rows(repository.listVariantIdsBySku, { skus })
  const bySku = Map.groupBy(found, ({ sku }) => sku)
  return ({ variantId, sku }) =>
    variantId === null ? (bySku.get(sku ?? '') ?? []).map(({ id }) => id) : [variantId]
}

/** Decides how a row changes its item and where it is counted, or why it cannot be applied. */
function decideRow(
  { variantId, sku, policy: said, onHand, safety, location }: StockCsvRow,
  [id = '', ...others]: readonly string[],
  items: ReadonlyMap<string, InventoryItemRow>,
  findLocation: StockLocationFinder
): RowDecision {
  const by: StockCsvField = variantId === null ? 'sku' : 'variantId'
  const item = items.get(id)
  if (others.length > 0) return { field: by, message: 'Several variants have this SKU. Set variant_id.' }
  if (item === undefined) return { field: by, message: 'The inventory has no such variant.' }
  if (sku !== null && item.sku !== null && sku !== item.sku)
    return { field: 'sku', message: 'The variant with this id has another SKU.' }
  const backorder = said.backorder ?? item.backorder
  if (said.backorder_limit !== undefined && backorder !== 'limit')
    return { field: 'backorderLimit', message: 'This requires backorder "limit".' }
  const backorder_limit = backorder === 'limit' ? (said.backorder_limit ?? item.backorder_limit) : null
  if (backorder === 'limit' && backorder_limit === null)
    return { field: 'backorder', message: 'backorder_limit is missing.' }
  const tracked = said.tracked ?? (item.tracked || onHand !== null)
  const now = { ...item, ...said, tracked, backorder, backorder_limit }
  if (!tracked || (onHand === null && safety === null)) return { now, locationId: null }
  const place = findLocation(location)
  return 'problem' in place ? { field: 'location', message: place.problem } : { now, locationId: place.id }
}
