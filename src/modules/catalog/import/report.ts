import { copyOf, type Ignored } from '../../../platform/csv/columns.ts'
import type { FileRefused } from '../../../platform/csv/records.ts'

/** What is wrong with one row of the file; rows count its lines, the header is 1. `column` as the file calls it. */
export type Problem = { row: number; handle: string | null; column?: string; message: string }

export type Mode = 'best_effort' | 'all_or_nothing'
export type Counts = {
  products: { created: number; updated: number; unchanged: number; failed: number }
  /** `deactivated`: the file no longer has them. They stay, so that carts that hold them can say so. */
  variants: { created: number; updated: number; unchanged: number; deactivated: number }
}
export type Report = Counts & {
  mode: Mode
  /** Rows with something in them, without the header. */
  rows: number
  /** The first 100. */
  ignored_columns: string[]
  ignored_columns_total: number
  errors: Problem[]
  errors_total: number
}

const ERRORS_MAX = 1_000
/** Longer than any handle that is accepted. */
const HANDLE_SHOWN_MAX = 300

export const noCounts = (): Counts => ({
  products: { created: 0, updated: 0, unchanged: 0, failed: 0 },
  variants: { created: 0, updated: 0, unchanged: 0, deactivated: 0 }
})

export const emptyReport = (mode: Mode, ignored: Ignored = { names: [], total: 0 }): Report => ({
  mode,
  rows: 0,
  ignored_columns: ignored.names,
  ignored_columns_total: ignored.total,
  ...noCounts(),
  errors: [],
  errors_total: 0
})

/** Adds what one batch came to. */
export function addCounts(report: Report, { products, variants }: Counts): void {
  report.products.created += products.created
  report.products.updated += products.updated
  report.products.unchanged += products.unchanged
  report.products.failed += products.failed
  report.variants.created += variants.created
  report.variants.updated += variants.updated
  report.variants.unchanged += variants.unchanged
  report.variants.deactivated += variants.deactivated
}

/** Adds a product that cannot be imported, and why. */
export function addFailure(report: Report, problems: readonly Problem[]): void {
  report.products.failed += 1
  report.errors_total += problems.length
  for (const problem of problems.slice(0, ERRORS_MAX - report.errors.length))
    report.errors.push({ ...problem, handle: shown(problem.handle) })
}

function shown(handle: string | null): string | null {
  if (handle === null || handle.length <= HANDLE_SHOWN_MAX) return handle
  return `${copyOf(handle.slice(0, HANDLE_SHOWN_MAX))}…`
}

/** The report of an import that changed nothing, because of what `refused` says. */
export const refusalReport = (mode: Mode, { row, message }: FileRefused): Report => ({
  ...emptyReport(mode),
  errors: [{ row, handle: null, message }],
  errors_total: 1
})
