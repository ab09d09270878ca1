import type { Readable } from 'node:stream'
import { derivedId, LOWEST_ID } from '../../../kernel/ids.ts'
import { CsvImportShutdownError, CsvRejectedError, FIRST_CSV_ROW } from '../../../platform/csv/records.ts'
import { type SpooledFile, spoolUpload } from '../../../platform/csv/spool.ts'
import { readCsvDataRecords, validateCsvFile } from '../../../platform/csv/table.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { stockImportFailedError, stockImportInterruptedError } from '../errors.ts'
import type { StockRequestQueue } from '../levels/service.ts'
import { createStockLocationFinder } from './find-location.ts'
import { parseStockCsvHeader } from './header.ts'
import {
  applyStockCsvRows,
  type StockImportBatchResult,
  type StockImportContext,
  type StockImportDeps
} from './import-batch.ts'
import {
  addRowErrorsToStockImportReport,
  emptyStockImportReport,
  rejectedStockFileReport,
  type StockImportInvalidRowPolicy,
  type StockImportReport
} from './report.ts'
import { createStockCsvRowConflictFinder } from './row-conflicts.ts'
import { parseStockCsvRow, type StockCsvRow } from './rows.ts'

export const STOCK_IMPORT_BYTES_MAX = 67_108_864
/** Each row keeps a few hundred bytes in memory while the file is read. */
const ROWS_MAX = 250_000
const BATCH_ROWS = 200
const REASON = 'Import of a file'
/** Maximum wait for the counts of a batch, in milliseconds. They usually take a fraction of a second. */
const WAIT_MS = 8_000
/** The transaction has no overall time limit; each statement has its own. */
const withoutEnd = { deadlineAt: Number.POSITIVE_INFINITY }

type Deps = Omit<StockImportDeps, 'stockRequests'> & { db: Database; stockRequests: StockRequestQueue }
/** `stopping`: aborted when the process stops; no further row is started then. */
type Options = { mode?: StockImportInvalidRowPolicy; reason?: string; actor: string; stopping?: AbortSignal }
type Requests = StockImportBatchResult['requests']

/**
 * Imports stock counts from CSV files. Each counted row is a request whose id is derived from the file and
 * the row. So an interrupted import can be repeated without counting twice.
 */
export function createStockImporter({ db, stockRequests, saveItems }: Deps) {
  /**
   * `best_effort` imports every valid row, 200 per transaction. `all_or_nothing` imports all rows in one
   * transaction.
   * @throws `INVENTORY_IMPORT_FAILED` with the report: nothing changed. `INVENTORY_IMPORT_INTERRUPTED`
   * with the report: the process stops. `INVENTORY_BUSY`: import the same file again to learn the outcome.
   */
  async function importStock(
    stream: Readable,
    options: Options,
    onProgress: () => void
  ): Promise<StockImportReport> {
    const { mode = 'best_effort' } = options
    try {
      const file = await spoolUpload(stream, STOCK_IMPORT_BYTES_MAX)
      return await importFile(file, mode, options, onProgress).finally(file.remove)
    } catch (cause) {
      // No row was imported yet.
      if (cause instanceof CsvImportShutdownError) throw interrupted(emptyStockImportReport(mode), cause)
      if (!(cause instanceof CsvRejectedError)) throw cause
      throw stockImportFailedError({ cause, details: { report: rejectedStockFileReport(mode, cause) } })
    }
  }

  async function importFile(
    file: SpooledFile,
    mode: StockImportInvalidRowPolicy,
    { reason = REASON, actor, stopping }: Options,
    onProgress: () => void
  ): Promise<StockImportReport> {
    const { header, rowsTotal } = await validateCsvFile(file, parseStockCsvHeader, onProgress)
    if (rowsTotal > ROWS_MAX)
      throw new CsvRejectedError(
        1,
        `The file has ${rowsTotal} rows; the maximum is ${ROWS_MAX}. Split the file.`
      )
    const fileId = derivedId(LOWEST_ID, `inventory.import ${file.digest} ${reason}`)
    const idOf = (row: number) => derivedId(fileId, String(row))
    const context = {
      header,
      findLocation: await createStockLocationFinder(db),
      idOf,
      actor,
      reason,
      stopping
    }
    const report = await (mode === 'best_effort' ? importValidRows : importAllOrNothing)(
      file,
      context,
      onProgress
    )
    return sortErrors(report)
  }

  async function importValidRows(
    file: SpooledFile,
    context: StockImportContext,
    onProgress: () => void
  ): Promise<StockImportReport> {
    const report = emptyStockImportReport('best_effort', context.header.ignored)
    try {
      for await (const rows of readBatches(file, context, report, onProgress)) {
        const outcome = await db.transaction(tx =>
          applyStockCsvRows(tx, rows, { stockRequests, saveItems }, context)
        )
        addOutcome(report, outcome)
        await addCounts(report, outcome.requests, context)
      }
    } catch (error) {
      throw error instanceof CsvImportShutdownError ? interrupted(sortErrors(report), error) : error
    }
    return report
  }

  async function importAllOrNothing(
    file: SpooledFile,
    context: StockImportContext,
    onProgress: () => void
  ): Promise<StockImportReport> {
    // A retried transaction starts with a new report.
    const { report, requests } = await db.transaction(async tx => {
      const report = emptyStockImportReport('all_or_nothing', context.header.ignored)
      const requests: Requests = []
      for await (const rows of readBatches(file, context, report, onProgress)) {
        const outcome = await applyStockCsvRows(tx, rows, { stockRequests, saveItems }, context)
        addOutcome(report, outcome)
        requests.push(...outcome.requests)
      }
      if (report.errors_total > 0)
        throw stockImportFailedError({
          details: { report: { ...sortErrors(report), items: { changed: 0 } } }
        })
      return { report, requests }
    }, withoutEnd)
    for (let start = 0; start < requests.length; start += BATCH_ROWS) {
      // The remaining counts are posted; the writer applies them after the restart.
      const next = requests[start]?.row ?? FIRST_CSV_ROW
      if (context.stopping?.aborted) throw interrupted(sortErrors(report), new CsvImportShutdownError(next))
      await addCounts(report, requests.slice(start, start + BATCH_ROWS), context)
      onProgress()
    }
    return report
  }

  /** Waits for the count requests and adds their outcomes to the report. */
  async function addCounts(
    report: StockImportReport,
    requests: Requests,
    { idOf }: StockImportContext
  ): Promise<void> {
    const ids = requests.map(({ row }) => idOf(row))
    const outcomes = await stockRequests.outcomesOf(ids, performance.now() + WAIT_MS)
    const { levels } = report
    for (const [index, { row, variant, isNew }] of requests.entries()) {
      const outcome = outcomes[index]
      if (outcome?.kind !== 'counted') {
        const message =
          'The ledger could not record this count; the figures may be beyond what can be counted.'
        addRowErrorsToStockImportReport(report, [{ row, variant, message }])
      } else if (!isNew) levels.repeated += 1
      else if (outcome.stale.length > 0) levels.stale += 1
      else {
        levels.counted += 1
        levels.short += outcome.short.length
      }
    }
  }

  return importStock
}
export type ImportStock = ReturnType<typeof createStockImporter>

/** Yields batches of up to 200 valid rows. Errors of other rows go into the report. */
async function* readBatches(
  file: SpooledFile,
  { header, stopping }: StockImportContext,
  report: StockImportReport,
  onRow: () => void
): AsyncGenerator<StockCsvRow[]> {
  const contradictionOf = createStockCsvRowConflictFinder()
  let batch: StockCsvRow[] = []
  for await (const record of readCsvDataRecords(file)) {
    if (batch.length === 0 && stopping?.aborted) throw new CsvImportShutdownError(record.row)
    report.rows += 1
    onRow()
    const read = parseStockCsvRow(record, header)
    const message = Array.isArray(read) ? undefined : contradictionOf(read)
    if (Array.isArray(read)) addRowErrorsToStockImportReport(report, read)
    else if (message !== undefined)
      addRowErrorsToStockImportReport(report, [{ row: read.row, variant: read.variant, message }])
    else batch.push(read)
    if (batch.length < BATCH_ROWS) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function addOutcome(report: StockImportReport, { failures, itemsChanged }: StockImportBatchResult): void {
  for (const problem of failures) addRowErrorsToStockImportReport(report, [problem])
  report.items.changed += itemsChanged
}

const interrupted = (report: StockImportReport, cause: CsvImportShutdownError) =>
  stockImportInterruptedError({ cause, details: { report, first_row_left: cause.row } })

const sortErrors = (report: StockImportReport): StockImportReport => ({
  ...report,
  errors: report.errors.toSorted((a, b) => a.row - b.row)
})
