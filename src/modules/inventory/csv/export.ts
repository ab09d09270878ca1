import type { Readable } from 'node:stream'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { createCsvStream, csvLine } from '../../../platform/csv/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'

/** Columns of the stock export, in order. */
export const STOCK_EXPORT_COLUMNS = [
  'variant_id',
  'sku',
  'location',
  'on_hand',
  'safety',
  'tracked',
  'backorder',
  'backorder_limit',
  'low_threshold',
  'reserved',
  'available'
] as const
const PAGE_ITEMS = 500

/**
 * Exports all stock as CSV. Each page shows the stock at the time it is read; no connection is held
 * between pages.
 */
export const createStockExporter =
  ({ db }: { db: Database }) =>
  (): Readable =>
    createCsvStream(STOCK_EXPORT_COLUMNS, linesFrom(db))
export type ExportStockCsv = ReturnType<typeof createStockExporter>

async function* linesFrom(db: Database): AsyncGenerator<string> {
  for (let after = LOWEST_ID; ; ) {
    const rows = await db.rows(repository.listStockExportRows, { after, items: PAGE_ITEMS })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(row => csvLine(STOCK_EXPORT_COLUMNS.map(column => row[column]))).join('')
    after = last.variant_id
  }
}
