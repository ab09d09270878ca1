import type { Readable } from 'node:stream'
import { findColumns, missingColumns } from '../../../platform/csv/columns.ts'
import { type CsvRecord, FileRefused, readRecords } from '../../../platform/csv/records.ts'
import { type Spooled, spool } from '../../../platform/csv/spool.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { importFailed } from '../errors.ts'

export const IMPORT_BYTES_MAX = 268_435_456
const BATCH_ROWS = 1_000
const ERRORS_MAX = 1_000
/** As long as it gets on, nobody ends it: each of its statements has a time limit of its own. */
const withoutEnd = { deadlineAt: Number.POSITIVE_INFINITY }

/** A cell by the name of its column; '' where the file does not have it. */
export type Cells = (column: string) => string
type Problem = { row: number; message: string }
type Kind<T> = {
  columns: readonly string[]
  /** Those that the file must have. */
  required: readonly string[]
  /** What a row says. @throws RowRefused */
  parse(cells: Cells): T
  /** Writes rows of the file, in its order. */
  write(tx: Transaction, rows: readonly T[]): Promise<void>
}

/** What is wrong with a row, in words for whoever made the file. */
export class RowRefused extends Error {}

/**
 * Imports a CSV file of any length, all of it or nothing: it is read once to find what is wrong, and once to write it, in one
 * transaction and a thousand rows at a time. Answers how many rows it had. @throws `PRICING_IMPORT_FAILED`, with its reasons
 */
export async function importCsv<T>(
  db: Database,
  stream: Readable,
  kind: Kind<T>,
  onRow: () => void
): Promise<{ rows: number }> {
  try {
    const file = await spool(stream, IMPORT_BYTES_MAX)
    return await importFile(db, file, kind, onRow).finally(file.remove)
  } catch (cause) {
    if (!(cause instanceof FileRefused)) throw cause
    throw failed(0, [{ row: cause.row, message: cause.message }], 1, cause)
  }
}

async function importFile<T>(db: Database, file: Spooled, kind: Kind<T>, onRow: () => void) {
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

async function checkRows<T>(file: Spooled, kind: Kind<T>, onRow: () => void): Promise<number> {
  const problems: Problem[] = []
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
    if (error instanceof RowRefused) return error.message
    throw error
  }
}

/** The rows behind the header, by the names of the columns. @throws FileRefused when some are missing */
async function* readRows(file: Spooled, kind: Pick<Kind<unknown>, 'columns' | 'required'>) {
  let columns: ReadonlyMap<string, number> | undefined
  for await (const record of readRecords(file.open())) {
    if (columns === undefined) columns = columnsOf(record, kind)
    else yield { row: record.row, cells: cellsOf(record, columns) }
  }
  if (columns === undefined) throw new FileRefused(1, 'The file is empty.')
}

function columnsOf(
  { row, cells }: CsvRecord,
  { columns, required }: Pick<Kind<unknown>, 'columns' | 'required'>
): ReadonlyMap<string, number> {
  const { indexes } = findColumns(cells, Object.fromEntries(columns.map(name => [name, [name]])))
  const missing = required.filter(name => !indexes.has(name))
  if (missing.length > 0) throw new FileRefused(row, missingColumns(missing, cells))
  return indexes
}

const cellsOf =
  ({ cells }: CsvRecord, columns: ReadonlyMap<string, number>): Cells =>
  column =>
    cells[columns.get(column) ?? -1]?.trim() ?? ''

const failed = (rows: number, errors: Problem[], errors_total: number, cause?: unknown) =>
  importFailed({ cause, details: { report: { rows, errors, errors_total } } })
