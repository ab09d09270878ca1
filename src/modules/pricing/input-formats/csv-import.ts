import type { Readable } from 'node:stream'
import { Type } from '../../../kernel/schema.ts'
import { response } from '../../../kernel/wire.ts'
import { findCsvColumns, missingCsvColumnsMessage } from '../../../platform/csv/columns.ts'
import { type CsvRecord, CsvRejectedError, readCsvRecords } from '../../../platform/csv/records.ts'
import { type SpooledFile, spoolUpload } from '../../../platform/csv/spool.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { pricingImportFailedError } from '../errors.ts'

export const PRICING_IMPORT_BYTES_MAX = 268_435_456
const BATCH_ROWS = 1_000
const ERRORS_MAX = 1_000
/** The transaction has no overall time limit; each statement has its own. */
const withoutEnd = { deadlineAt: Number.POSITIVE_INFINITY }

/** Returns a cell by column name; '' when the file lacks the column. */
export type ReadCsvCellByColumn = (column: string) => string
type CsvRowError = { row: number; message: string }
type CsvFormat<T> = {
  columns: readonly string[]
  /** Required columns. */
  required: readonly string[]
  /** Parses a row. @throws RowRefused */
  parse(cells: ReadCsvCellByColumn): T
  /** Writes rows in the order of the file. */
  write(tx: Transaction, rows: readonly T[]): Promise<void>
}

/** An error of a row, in words for the author of the file. */
export class PricingCsvRowError extends Error {}

/**
 * Imports a CSV file completely or not at all. It is read once to check it and once to write it, in one
 * transaction, 1,000 rows per statement. Returns the number of rows. @throws `PRICING_IMPORT_FAILED` with
 * the errors
 */
export async function importCsvAllOrNothing<T>(
  db: Database,
  stream: Readable,
  kind: CsvFormat<T>,
  onRow: () => void
): Promise<{ rows: number }> {
  try {
    const file = await spoolUpload(stream, PRICING_IMPORT_BYTES_MAX)
    return await importFile(db, file, kind, onRow).finally(file.remove)
  } catch (cause) {
    if (!(cause instanceof CsvRejectedError)) throw cause
    throw failed(0, [{ row: cause.row, message: cause.message }], 1, cause)
  }
}

async function importFile<T>(db: Database, file: SpooledFile, kind: CsvFormat<T>, onRow: () => void) {
  const rows = await checkRows(file, kind, onRow)
  await db.transaction(async tx => {
    let batch: T[] = []
    const write = async () => {
      if (batch.length > 0) await kind.write(tx, batch)
      batch = []
    }
    for await (const { cells } of readRows(file, kind)) {
      onRow()
      batch.push(kind.parse(cells))
      if (batch.length === BATCH_ROWS) await write()
    }
    await write()
  }, withoutEnd)
  return { rows }
}

async function checkRows<T>(file: SpooledFile, kind: CsvFormat<T>, onRow: () => void): Promise<number> {
  const problems: CsvRowError[] = []
  let [rows, problemsTotal] = [0, 0]
  for await (const { row, cells } of readRows(file, kind)) {
    onRow()
    rows += 1
    const message = problemOf(() => kind.parse(cells))
    if (message === undefined) continue
    problemsTotal += 1
    if (problems.length < ERRORS_MAX) problems.push({ row, message })
  }
  if (problemsTotal > 0) throw failed(rows, problems, problemsTotal)
  return rows
}

function problemOf(parse: () => unknown): string | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    if (error instanceof PricingCsvRowError) return error.message
    throw error
  }
}

/** Yields the rows after the header. @throws CsvRejectedError when columns are missing */
async function* readRows(file: SpooledFile, kind: Pick<CsvFormat<unknown>, 'columns' | 'required'>) {
  let columns: ReadonlyMap<string, number> | undefined
  for await (const record of readCsvRecords(file.open())) {
    if (columns === undefined) columns = columnsOf(record, kind)
    else yield { row: record.row, cells: cellsOf(record, columns) }
  }
  if (columns === undefined) throw new CsvRejectedError(1, 'The file is empty.')
}

function columnsOf(
  { row, cells }: CsvRecord,
  { columns, required }: Pick<CsvFormat<unknown>, 'columns' | 'required'>
): ReadonlyMap<string, number> {
  const { indexes } = findCsvColumns(cells, Object.fromEntries(columns.map(name => [name, [name]])))
  const missing = required.filter(name => !indexes.has(name))
  if (missing.length > 0) throw new CsvRejectedError(row, missingCsvColumnsMessage(missing, cells))
  return indexes
}

const cellsOf =
  ({ cells }: CsvRecord, columns: ReadonlyMap<string, number>): ReadCsvCellByColumn =>
  column =>
    cells[columns.get(column) ?? -1]?.trim() ?? ''

const failed = (rows: number, errors: CsvRowError[], errors_total: number, cause?: unknown) =>
  pricingImportFailedError({ cause, details: { report: { rows, errors, errors_total } } })

/** Response to an import. */
export const PricingImportResponse = response('PricingImportResponse', {
  rows: Type.Integer({ description: 'Rows of the file, without the header.' })
})
/** Response with a CSV file; OpenAPI describes it by a text schema only. */
export const csvFileResponseSchema = (description: string) => ({
  200: { description, content: { 'text/csv': { schema: Type.String() } } }
})
