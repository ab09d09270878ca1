import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../../../kernel/errors.ts'
import { copyTextOutOfCsvCell } from '../../../platform/csv/columns.ts'
import {
  CsvImportShutdownError,
  type CsvRecord,
  CsvRejectedError,
  FIRST_CSV_ROW
} from '../../../platform/csv/records.ts'
import { type SpooledFile, spoolUpload } from '../../../platform/csv/spool.ts'
import { readCsvDataRecords, validateCsvFile } from '../../../platform/csv/table.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { productImportFailedError, productImportInterruptedError } from '../errors.ts'
import type { CatalogChangePublisher } from '../revision/changes.ts'
import { importProductBatch, type ProductImportBatchOutcome } from './batch.ts'
import {
  isProductBatchRejection,
  outcomeOfRejectedProduct,
  productBatchRejectedError
} from './database-rejections.ts'
import { readShopifyCsvHeader, SHOPIFY_CSV_STOCK_COLUMNS, type ShopifyCsvHeader } from './header.ts'
import type { ImportedProduct } from './imported-product.ts'
import {
  addBatchCountsToImportReport,
  addFailedProductToReport,
  emptyProductImportReport,
  type ProductImportInvalidRowPolicy,
  type ProductImportReport,
  rejectedProductFileReport,
  zeroProductImportCounts
} from './report.ts'
import * as repository from './repository.ts'
import { groupCsvRowsByProduct } from './rows.ts'
import { parseShopifyCsvProduct } from './shopify.ts'

/** The transaction of an import has no time limit, because each of its statements has one. */
const withoutTimeLimit = { deadlineAt: Number.POSITIVE_INFINITY }

export const PRODUCT_IMPORT_BYTES_MAX = 536_870_912
/** Rows per batch. It is small, because a batch blocks the event loop and would delay other requests. */
const BATCH_ROWS = 250
/** Maximum bytes of the rows of a batch. Usual batches have a hundredth of it. */
const BATCH_SIZE_MAX = 8_388_608
/** An import pauses as long as each batch took, so that half of the machine is left for other requests. */
const REST_MS_MAX = 1_000
const ANALYZED_ROWS_MIN = 1_000
const COUNTED_TRIES_MAX = 60

/** `stopping`: aborted when the process stops. The import begins no further product then. */
export type ProductImportOptions = { mode?: ProductImportInvalidRowPolicy; stopping?: AbortSignal }
/**
 * Progress of an import, reported for each row that is read. `rowsTotal` is null while the file is being
 * checked.
 */
export type ProductImportProgress = { rows: number; rowsTotal: number | null }
type OnProgress = (progress: ProductImportProgress) => void
type Deps = {
  db: Database
  changes: CatalogChangePublisher
  /** Absent: the stock columns of a file are ignored. */
  inventory: Pick<InventoryApi, 'areCountsApplied' | 'upsertItems'> | undefined
  currency: string
}

/** Imports products from Shopify's CSV exports. Importing the same file again changes nothing. */
export function createProductImporter({ db, changes, inventory, currency }: Deps) {
  /**
   * `best_effort` imports all valid products, about 250 rows per transaction. `all_or_nothing` imports all
   * products in one transaction, or none. @throws `CATALOG_IMPORT_FAILED` with the report, when nothing was
   * changed; `CATALOG_IMPORT_INTERRUPTED` with the report, when the process stops.
   */
  async function importCsv(
    stream: Readable,
    options: ProductImportOptions = {},
    onProgress: OnProgress = () => {}
  ) {
    const { mode = 'best_effort', stopping } = options
    try {
      const file = await spoolUpload(stream, PRODUCT_IMPORT_BYTES_MAX)
      return await importFile(file, mode, stopping, onProgress).finally(file.remove)
    } catch (cause) {
      // The file was not received completely, so nothing was imported.
      if (cause instanceof CsvImportShutdownError) throw interrupted(emptyProductImportReport(mode), cause)
      if (!(cause instanceof CsvRejectedError)) throw cause
      throw productImportFailedError({ cause, details: { report: rejectedProductFileReport(mode, cause) } })
    }
  }

  async function importFile(
    file: SpooledFile,
    mode: ProductImportInvalidRowPolicy,
    stopping: AbortSignal | undefined,
    onProgress: OnProgress
  ): Promise<ProductImportReport> {
    const unread = inventory ? [] : SHOPIFY_CSV_STOCK_COLUMNS
    const { header, rowsTotal } = await validateCsvFile(
      file,
      cells => readShopifyCsvHeader(cells, unread),
      () => onProgress({ rows: 0, rowsTotal: null })
    )
    const progress = (report: ProductImportReport) => onProgress({ rows: report.rows, rowsTotal })
    const read = (report: ProductImportReport) =>
      readBatches(file, { header, currency, stopping }, report, () => progress(report))
    const report = await (mode === 'best_effort' ? importSome : importAll)(
      () => emptyProductImportReport(mode, header.ignored),
      read,
      progress
    )
    report.errors.sort((a, b) => a.row - b.row)
    // Autovacuum would analyze within a minute. Until then, searches would be planned for the earlier table
    // sizes.
    if (report.rows >= ANALYZED_ROWS_MIN) await db.run(repository.analyzeCatalogTables).catch(() => {})
    return report
  }

  type Read = (report: ProductImportReport) => AsyncIterable<ImportedProduct[]>
  type OnBatch = (report: ProductImportReport) => void

  async function importSome(
    newReport: () => ProductImportReport,
    read: Read,
    onBatch: OnBatch
  ): Promise<ProductImportReport> {
    const report = newReport()
    try {
      for await (const drafts of read(report)) {
        const startedAt = performance.now()
        for (const outcome of await applyOrSplit(drafts)) addOutcome(report, outcome)
        await waitForStock(() => onBatch(report))
        await delay(Math.min(performance.now() - startedAt, REST_MS_MAX))
      }
    } catch (error) {
      throw error instanceof CsvImportShutdownError ? interrupted(report, error) : error
    }
    return report
  }

  /** Waits until the inventory has applied the stock of the file, so that the report is returned after it. */
  async function waitForStock(onWait: () => void): Promise<void> {
    onWait()
    for (
      let tries = 0;
      inventory && tries < COUNTED_TRIES_MAX && !(await inventory.areCountsApplied());
      tries += 1
    )
      onWait()
  }

  /**
   * Imports a batch. If the database rejects it, imports its halves separately, until only the faulty
   * products fail.
   */
  async function applyOrSplit(drafts: readonly ImportedProduct[]): Promise<ProductImportBatchOutcome[]> {
    try {
      const outcome = await db.transaction(async tx => {
        const applied = await importProductBatch(tx, drafts, { currency, inventory })
        if (applied.changedIds.length > 0) await changes.announce(tx, applied.changedIds)
        return applied
      }, withoutTimeLimit)
      return [outcome]
    } catch (error) {
      const [first] = drafts
      if (first === undefined || !isProductBatchRejection(error)) throw error
      if (drafts.length === 1) return [outcomeOfRejectedProduct(first, error)]
      const middle = Math.ceil(drafts.length / 2)
      return [...(await applyOrSplit(drafts.slice(0, middle))), ...(await applyOrSplit(drafts.slice(middle)))]
    }
  }

  async function importAll(
    newReport: () => ProductImportReport,
    read: Read,
    onBatch: OnBatch
  ): Promise<ProductImportReport> {
    let underWay: readonly ImportedProduct[] = []
    // The transaction can be retried, and starts with a new report then.
    const importing = db.transaction(async tx => {
      const report = newReport()
      for await (const drafts of read(report)) {
        // After the first problem, the rest of the file is read only to report further problems.
        if (report.errors_total > 0) continue
        underWay = drafts
        const outcome = await importProductBatch(tx, drafts, { currency, inventory })
        addOutcome(report, outcome)
        if (outcome.changedIds.length > 0) await changes.announce(tx, outcome.changedIds)
        onBatch(report)
      }
      if (report.errors_total > 0) {
        const { failed } = report.products
        const { products, variants } = zeroProductImportCounts()
        throw productImportFailedError({
          details: { report: { ...report, products: { ...products, failed }, variants } }
        })
      }
      return report
    }, withoutTimeLimit)
    const report = await importing.catch(error => {
      const isFinal =
        error instanceof DomainError &&
        (error.kind === 'unavailable' || error.code === productImportFailedError.code)
      throw isFinal || !isProductBatchRejection(error) ? error : productBatchRejectedError(underWay, error)
    })
    await waitForStock(() => onBatch(report))
    return report
  }

  return importCsv
}
export type ImportProductsCsv = ReturnType<typeof createProductImporter>

type Reading = { header: ShopifyCsvHeader; currency: string; stopping: AbortSignal | undefined }

const interrupted = (report: ProductImportReport, cause: CsvImportShutdownError) =>
  productImportInterruptedError({ cause, details: { report, first_row_left: cause.row } })

/**
 * Reads the valid products of the file, about 250 rows at a time. Adds the problems of invalid ones to the
 * report.
 */
async function* readBatches(
  file: SpooledFile,
  { header, currency, stopping }: Reading,
  report: ProductImportReport,
  onRow: () => void
): AsyncGenerator<ImportedProduct[]> {
  const seen = new Set<string>()
  let batch: ImportedProduct[] = []
  let [rows, size, rowsBegun] = [0, 0, 0]
  for await (const group of groupCsvRowsByProduct(countRows(file, report, onRow), header)) {
    if (batch.length === 0 && stopping?.aborted) {
      // Rows of this product and of the next one were read, but are not imported.
      report.rows = rowsBegun
      throw new CsvImportShutdownError(group.rows[0]?.row ?? FIRST_CSV_ROW)
    }
    rowsBegun += group.rows.length
    const parsed = parseShopifyCsvProduct(group, header, currency)
    if ('problems' in parsed) {
      addFailedProductToReport(report, parsed.problems)
    } else if (seen.has(parsed.draft.slug)) {
      const message =
        'The rows of a product must follow each other. Move these rows to the earlier rows of the product.'
      addFailedProductToReport(report, [{ row: parsed.draft.row, handle: group.handle, message }])
    } else {
      seen.add(copyTextOutOfCsvCell(parsed.draft.slug))
      batch.push(parsed.draft)
      rows += group.rows.length
      size += group.size
    }
    if (rows < BATCH_ROWS && size < BATCH_SIZE_MAX) continue
    yield batch
    batch = []
    rows = 0
    size = 0
  }
  yield batch
}

async function* countRows(
  file: SpooledFile,
  report: ProductImportReport,
  onRow: () => void
): AsyncGenerator<CsvRecord> {
  for await (const record of readCsvDataRecords(file)) {
    report.rows += 1
    onRow()
    yield record
  }
}

function addOutcome(report: ProductImportReport, { counts, failures }: ProductImportBatchOutcome): void {
  addBatchCountsToImportReport(report, counts)
  for (const problems of failures) addFailedProductToReport(report, problems)
}
