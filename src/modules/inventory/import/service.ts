import type { Readable } from 'node:stream'
import { derivedId, FIRST_ID } from '../../../kernel/ids.ts'
import { FIRST_ROW, FileInterrupted, FileRefused } from '../../../platform/csv/records.ts'
import { type Spooled, spool } from '../../../platform/csv/spool.ts'
import { checkTable, readTable } from '../../../platform/csv/table.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { importFailed, importInterrupted } from '../errors.ts'
import type { Books } from '../levels/service.ts'
import { applyRows, type BatchDeps, type Outcome, type Sending } from './batch.ts'
import { readHeader } from './header.ts'
import { readPlaces } from './places.ts'
import { addFailure, emptyReport, type Mode, type Report, refusalReport } from './report.ts'
import { readRow, type StockRow } from './rows.ts'
import { createSeen } from './seen.ts'

export const IMPORT_BYTES_MAX = 67_108_864
/** What is kept of each row while they are read is some hundred bytes. */
const ROWS_MAX = 250_000
const BATCH_ROWS = 200
const REASON = 'Import of a file'
/** The counts of a batch take a fraction of a second, unless a lot of others wait before them. */
const WAIT_MS = 8_000
/** As long as it gets on, nobody ends it: each of its statements has a time limit of its own. */
const withoutEnd = { deadlineAt: Number.POSITIVE_INFINITY }

type Deps = Omit<BatchDeps, 'books'> & { db: Database; books: Books }
/** `stopping`: aborted when the process stops; no other row is begun then. */
type Options = { mode?: Mode; reason?: string; actor: string; stopping?: AbortSignal }
type Requests = Outcome['requests']

/**
 * Counts stock by files. Each row that counts is a request of its own, whose id follows from the file and the row: sent
 * again after whatever happened, a file goes on where it was, and no row of it counts twice.
 */
export function createStockImporter({ db, books, saveItems }: Deps) {
  /**
   * `best_effort` imports every row that has no fault, 200 in a transaction; `all_or_nothing` imports all of them in one
   * transaction, or none. @throws `INVENTORY_IMPORT_FAILED` with the report, and then nothing was changed;
   * `INVENTORY_IMPORT_INTERRUPTED` with the report, when the process stops; `INVENTORY_BUSY`: the same file again tells what
   * became of it.
   */
  async function importStock(stream: Readable, options: Options, onProgress: () => void): Promise<Report> {
    const { mode = 'best_effort' } = options
    try {
      const file = await spool(stream, IMPORT_BYTES_MAX)
      return await importFile(file, mode, options, onProgress).finally(file.remove)
    } catch (cause) {
      // Nothing of it was imported.
      if (cause instanceof FileInterrupted) throw interrupted(emptyReport(mode), cause)
      if (!(cause instanceof FileRefused)) throw cause
      throw importFailed({ cause, details: { report: refusalReport(mode, cause) } })
    }
  }

  async function importFile(
    file: Spooled,
    mode: Mode,
    { reason = REASON, actor, stopping }: Options,
    onProgress: () => void
  ): Promise<Report> {
    const { header, rowsTotal } = await checkTable(file, readHeader, onProgress)
    if (rowsTotal > ROWS_MAX)
      throw new FileRefused(1, `The file has ${rowsTotal} rows; ${ROWS_MAX} are the most. Send it in parts.`)
    const fileId = derivedId(FIRST_ID, `inventory.import ${file.digest} ${reason}`)
    const idOf = (row: number) => derivedId(fileId, String(row))
    const sending = { header, findPlace: await readPlaces(db), idOf, actor, reason, stopping }
    const report = await (mode === 'best_effort' ? importSome : importAll)(file, sending, onProgress)
    return inOrder(report)
  }

  async function importSome(file: Spooled, sending: Sending, onProgress: () => void): Promise<Report> {
    const report = emptyReport('best_effort', sending.header.ignored)
    try {
      for await (const rows of readBatches(file, sending, report, onProgress)) {
        const outcome = await db.transaction(tx => applyRows(tx, rows, { books, saveItems }, sending))
        addOutcome(report, outcome)
        await addCounts(report, outcome.requests, sending)
      }
    } catch (error) {
      throw error instanceof FileInterrupted ? interrupted(inOrder(report), error) : error
    }
    return report
  }

  async function importAll(file: Spooled, sending: Sending, onProgress: () => void): Promise<Report> {
    // The transaction may have to run again, and then starts with a new report.
    const { report, requests } = await db.transaction(async tx => {
      const report = emptyReport('all_or_nothing', sending.header.ignored)
      const requests: Requests = []
      for await (const rows of readBatches(file, sending, report, onProgress)) {
        const outcome = await applyRows(tx, rows, { books, saveItems }, sending)
        addOutcome(report, outcome)
        requests.push(...outcome.requests)
      }
      if (report.errors_total > 0)
        throw importFailed({ details: { report: { ...inOrder(report), items: { changed: 0 } } } })
      return { report, requests }
    }, withoutEnd)
    for (let start = 0; start < requests.length; start += BATCH_ROWS) {
      // The other counts are stored, and the writer makes them after the restart.
      const next = requests[start]?.row ?? FIRST_ROW
      if (sending.stopping?.aborted) throw interrupted(inOrder(report), new FileInterrupted(next))
      await addCounts(report, requests.slice(start, start + BATCH_ROWS), sending)
      onProgress()
    }
    return report
  }

  /** Waits until the requests are done, and adds what became of them. */
  async function addCounts(report: Report, requests: Requests, { idOf }: Sending): Promise<void> {
    const ids = requests.map(({ row }) => idOf(row))
    const outcomes = await books.outcomesOf(ids, performance.now() + WAIT_MS)
    const { levels } = report
    for (const [index, { row, variant, isNew }] of requests.entries()) {
      const outcome = outcomes[index]
      if (outcome?.kind !== 'counted') {
        const message = 'The books could not take this count; the figures may be beyond what can be counted.'
        addFailure(report, [{ row, variant, message }])
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

/** The rows of the file, 200 at most at a time. What is wrong with the others goes into the report. */
async function* readBatches(
  file: Spooled,
  { header, stopping }: Sending,
  report: Report,
  onRow: () => void
): AsyncGenerator<StockRow[]> {
  const contradictionOf = createSeen()
  let batch: StockRow[] = []
  for await (const record of readTable(file)) {
    if (batch.length === 0 && stopping?.aborted) throw new FileInterrupted(record.row)
    report.rows += 1
    onRow()
    const read = readRow(record, header)
    const message = Array.isArray(read) ? undefined : contradictionOf(read)
    if (Array.isArray(read)) addFailure(report, read)
    else if (message !== undefined) addFailure(report, [{ row: read.row, variant: read.variant, message }])
    else batch.push(read)
    if (batch.length < BATCH_ROWS) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function addOutcome(report: Report, { failures, itemsChanged }: Outcome): void {
  for (const problem of failures) addFailure(report, [problem])
  report.items.changed += itemsChanged
}

const interrupted = (report: Report, cause: FileInterrupted) =>
  importInterrupted({ cause, details: { report, first_row_left: cause.row } })

const inOrder = (report: Report): Report => ({
  ...report,
  errors: report.errors.toSorted((a, b) => a.row - b.row)
})
