import type { Ignored } from '../../../platform/csv/columns.ts'
import type { FileRefused } from '../../../platform/csv/records.ts'

/** What is wrong with one row of the file; rows count its lines, the header is 1. `column` as the file calls it. */
export type Problem = { row: number; variant: string | null; column?: string; message: string }
export type Mode = 'best_effort' | 'all_or_nothing'

export type Report = {
  mode: Mode
  rows: number
  failed: number
  ignored_columns: string[]
  ignored_columns_total: number
  levels: { counted: number; short: number; stale: number; repeated: number }
  items: { changed: number }
  errors: Problem[]
  errors_total: number
}

const ERRORS_MAX = 1_000

export const emptyReport = (mode: Mode, ignored: Ignored = { names: [], total: 0 }): Report => ({
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

/** Adds a row that cannot be imported, and why. */
export function addFailure(report: Report, problems: readonly Problem[]): void {
  report.failed += 1
  report.errors_total += problems.length
  report.errors.push(...problems.slice(0, ERRORS_MAX - report.errors.length))
}

/** The report of an import that changed nothing, because of what `refused` says. */
export const refusalReport = (mode: Mode, { row, message }: FileRefused): Report => ({
  ...emptyReport(mode),
  errors: [{ row, variant: null, message }],
  errors_total: 1
})
