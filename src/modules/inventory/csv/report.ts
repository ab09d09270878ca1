import type { IgnoredCsvColumns } from '../../../platform/csv/columns.ts'
import type { CsvRejectedError } from '../../../platform/csv/records.ts'

/** An error of one row. `row`: line of the file; the header is 1. `column`: the heading in the file. */
export type StockCsvRowError = { row: number; variant: string | null; column?: string; message: string }
export type StockImportInvalidRowPolicy = 'best_effort' | 'all_or_nothing'

export type StockImportReport = {
  mode: StockImportInvalidRowPolicy
  rows: number
  failed: number
  ignored_columns: string[]
  ignored_columns_total: number
  levels: { counted: number; short: number; stale: number; repeated: number }
  items: { changed: number }
  errors: StockCsvRowError[]
  errors_total: number
}

const ERRORS_MAX = 1_000

export const emptyStockImportReport = (
  mode: StockImportInvalidRowPolicy,
  ignored: IgnoredCsvColumns = { names: [], total: 0 }
): StockImportReport => ({
  mode,
  rows: 0,
  failed: 0,
  ignored_columns: ignored.names,
  ignored_columns_total: ignored.total,
  levels: { counted: 0, short: 0, stale: 0, repeated: 0 },
  items: { changed: 0 },
  errors: [],
  errors_total: 0
})

/** Adds the errors of a row that cannot be imported. */
export function addRowErrorsToStockImportReport(
  report: StockImportReport,
  problems: readonly StockCsvRowError[]
): void {
  report.failed += 1
  report.errors_total += problems.length
  report.errors.push(...problems.slice(0, ERRORS_MAX - report.errors.length))
}

/** Report of a refused file. */
export const rejectedStockFileReport = (
  mode: StockImportInvalidRowPolicy,
  { row, message }: CsvRejectedError
): StockImportReport => ({
  ...emptyStockImportReport(mode),
  errors: [{ row, variant: null, message }],
  errors_total: 1
})
