import { copyTextOutOfCsvCell, type IgnoredCsvColumns } from '../../../platform/csv/columns.ts'
import type { CsvRejectedError } from '../../../platform/csv/records.ts'

/**
 * A problem of one row of the file. `row`: its line, where the header is 1. `column`: its heading in the
 * file.
 */
export type ProductImportProblem = { row: number; handle: string | null; column?: string; message: string }

export type ProductImportInvalidRowPolicy = 'best_effort' | 'all_or_nothing'
export type ProductImportCounts = {
  products: { created: number; updated: number; unchanged: number; failed: number }
  /**
   * `deactivated`: variants that are missing in the file. They are kept, so that carts can show them as
   * unavailable.
   */
  variants: { created: number; updated: number; unchanged: number; deactivated: number }
}
export type ProductImportReport = ProductImportCounts & {
  mode: ProductImportInvalidRowPolicy
  /** Rows that are not empty, without the header. */
  rows: number
  /** Headings of the first 100 columns that the import does not read. */
  ignored_columns: string[]
  ignored_columns_total: number
  errors: ProductImportProblem[]
  errors_total: number
}

const ERRORS_MAX = 1_000
/** Maximum characters of a handle in the report. No valid handle is longer. */
const HANDLE_SHOWN_MAX = 300

export const zeroProductImportCounts = (): ProductImportCounts => ({
  products: { created: 0, updated: 0, unchanged: 0, failed: 0 },
  variants: { created: 0, updated: 0, unchanged: 0, deactivated: 0 }
})

export const emptyProductImportReport = (
  mode: ProductImportInvalidRowPolicy,
  ignored: IgnoredCsvColumns = { names: [], total: 0 }
): ProductImportReport => ({
  mode,
  rows: 0,
  ignored_columns: ignored.names,
  ignored_columns_total: ignored.total,
  ...zeroProductImportCounts(),
  errors: [],
  errors_total: 0
})

/** Adds the counts of one batch. */
export function addBatchCountsToImportReport(
  report: ProductImportReport,
  { products, variants }: ProductImportCounts
): void {
  report.products.created += products.created
  report.products.updated += products.updated
  report.products.unchanged += products.unchanged
  report.products.failed += products.failed
  report.variants.created += variants.created
  report.variants.updated += variants.updated
  report.variants.unchanged += variants.unchanged
  report.variants.deactivated += variants.deactivated
}

/** Adds a product that cannot be imported, with its problems. */
export function addFailedProductToReport(
  report: ProductImportReport,
  problems: readonly ProductImportProblem[]
): void {
  report.products.failed += 1
  report.errors_total += problems.length
  for (const problem of problems.slice(0, ERRORS_MAX - report.errors.length))
    report.errors.push({ ...problem, handle: shown(problem.handle) })
}

function shown(handle: string | null): string | null {
  if (handle === null || handle.length <= HANDLE_SHOWN_MAX) return handle
  return `${copyTextOutOfCsvCell(handle.slice(0, HANDLE_SHOWN_MAX))}…`
}

/** Returns the report of an import that changed nothing, because the file was rejected. */
export const rejectedProductFileReport = (
  mode: ProductImportInvalidRowPolicy,
  { row, message }: CsvRejectedError
): ProductImportReport => ({
  ...emptyProductImportReport(mode),
  errors: [{ row, handle: null, message }],
  errors_total: 1
})
