import type { Transaction } from '../../../platform/postgres/database.ts'
import { type ItemRow, lockItems } from '../items/repository.ts'
import type { SaveItems } from '../items/save.ts'
import type { Books } from '../levels/service.ts'
import type { Field, Header } from './header.ts'
import type { FindPlace } from './places.ts'
import type { Problem } from './report.ts'
import * as repository from './repository.ts'
import type { StockRow } from './rows.ts'

export type BatchDeps = { books: Pick<Books, 'post'>; saveItems: SaveItems }
/** What is the same for all rows of a file. */
export type Sending = {
  readonly header: Header
  readonly findPlace: FindPlace
  /** Of the request that counts a row. It follows from the file: sent again, the request is there already. */
  idOf(row: number): string
  readonly actor: string
  readonly reason: string
  readonly stopping: AbortSignal | undefined
}
/** What a batch came to. `requests`: of its rows that count something. */
export type Outcome = {
  failures: Problem[]
  itemsChanged: number
  requests: { row: number; variant: string; isNew: boolean }[]
}
type Count = { row: StockRow; itemId: string; locationId: string }
type Judged = { now: ItemRow; locationId: string | null } | { field: Field; message: string }

/** Says within `tx` what the rows say. A row with a fault changes nothing. */
export async function applyRows(
  tx: Transaction,
  rows: readonly StockRow[],
  { books, saveItems }: BatchDeps,
  sending: Sending
): Promise<Outcome> {
  const { header, findPlace, idOf, actor, reason } = sending
  const idsOf = await findIds(tx, rows)
  const ids = new Set(rows.flatMap(idsOf))
  const before = new Map((await tx.rows(lockItems, { ids: [...ids] })).map(item => [item.id, item]))
  const now = new Map(before)
  const failures: Problem[] = []
  const counts: Count[] = []
  for (const row of rows) {
    const judged = judgeRow(row, idsOf(row), now, findPlace)
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
  const posted = await books.post(
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

/** The ids that a row may mean: one, unless its SKU says too little. */
async function findIds(tx: Transaction, rows: readonly StockRow[]): Promise<(row: StockRow) => string[]> {
  const skus = rows.flatMap(({ variantId, sku }) => (variantId === null && sku !== null ? [sku] : []))
  const found = skus.length === 0 ? [] : await tx.rows(repository.listIdsOfSkus, { skus })
  const bySku = Map.groupBy(found, ({ sku }) => sku)
  return ({ variantId, sku }) =>
    variantId === null ? (bySku.get(sku ?? '') ?? []).map(({ id }) => id) : [variantId]
}

/** What becomes of the row's variant, and where it is counted; or why nothing does. */
function judgeRow(
  { variantId, sku, said, onHand, safety, location }: StockRow,
  [id = '', ...others]: readonly string[],
  items: ReadonlyMap<string, ItemRow>,
  findPlace: FindPlace
): Judged {
  const by: Field = variantId === null ? 'sku' : 'variantId'
  const item = items.get(id)
  if (others.length > 0)
    return { field: by, message: 'Several variants have this SKU; say which by variant_id.' }
  if (item === undefined) return { field: by, message: 'The inventory knows no such variant.' }
  if (sku !== null && item.sku !== null && sku !== item.sku)
    return { field: 'sku', message: 'The variant with this id has another SKU.' }
  const backorder = said.backorder ?? item.backorder
  if (said.backorder_limit !== undefined && backorder !== 'limit')
    return { field: 'backorderLimit', message: 'This goes with the backorder "limit", and with it alone.' }
  const backorder_limit = backorder === 'limit' ? (said.backorder_limit ?? item.backorder_limit) : null
  if (backorder === 'limit' && backorder_limit === null)
    return { field: 'backorder', message: 'How many may be owed (backorder_limit) is missing.' }
  const tracked = said.tracked ?? (item.tracked || onHand !== null)
  const now = { ...item, ...said, tracked, backorder, backorder_limit }
  if (!tracked || (onHand === null && safety === null)) return { now, locationId: null }
  const place = findPlace(location)
  return 'problem' in place ? { field: 'location', message: place.problem } : { now, locationId: place.id }
}
