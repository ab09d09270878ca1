import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../../../kernel/errors.ts'
import { copyOf } from '../../../platform/csv/columns.ts'
import { type CsvRecord, FIRST_ROW, FileInterrupted, FileRefused } from '../../../platform/csv/records.ts'
import { type Spooled, spool } from '../../../platform/csv/spool.ts'
import { checkTable, readTable } from '../../../platform/csv/table.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { databaseUnavailable } from '../../../platform/postgres/errors.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { importFailed, importInterrupted, skuTaken, slugTaken } from '../errors.ts'
import type { Changes } from '../revision/changes.ts'
import { applyBatch, type Outcome } from './batch.ts'
import type { ProductDraft } from './draft.ts'
import { type Header, readHeader, STOCK_FIELDS } from './header.ts'
import {
  addCounts,
  addFailure,
  emptyReport,
  type Mode,
  noCounts,
  type Report,
  refusalReport
} from './report.ts'
import * as repository from './repository.ts'
import { groupRows } from './rows.ts'
import { productOf } from './shopify.ts'

/** As long as it gets on, nobody ends it: each of its statements has a time limit of its own. */
const withoutEnd = { deadlineAt: Number.POSITIVE_INFINITY }

export const IMPORT_BYTES_MAX = 536_870_912
/** So many that readers of carts hardly notice what a batch holds up: the event loop, and the database. */
const BATCH_ROWS = 250
/** Of a batch's rows. Usual ones have a hundredth of it. */
const BATCH_SIZE_MAX = 8_388_608
/** An import rests for as long as each batch took, so that half of what the machine can do is left for everybody else. */
const REST_MS_MAX = 1_000
const ANALYZED_ROWS_MIN = 1_000
const COUNTED_TRIES_MAX = 60

/** `stopping`: aborted when the process stops; no other product is begun then. */
export type ImportOptions = { mode?: Mode; stopping?: AbortSignal }
/** How far an import has come, with each row that is read; `rowsTotal` is null while the file is only checked. */
export type Progress = { rows: number; rowsTotal: number | null }
type OnProgress = (progress: Progress) => void
type Deps = {
  db: Database
  changes: Changes
  /** Absent: what a file says of stock is not read. */
  inventory: Pick<InventoryApi, 'describe' | 'counted'> | undefined
  currency: string
}

/** Imports products from Shopify's CSV exports. Importing a file twice changes nothing the second time. */
export function createImporter({ db, changes, inventory, currency }: Deps) {
  /**
   * `best_effort` imports every product that has no fault, some 250 rows in a transaction; `all_or_nothing` imports all
   * of them in one transaction, or none. @throws `CATALOG_IMPORT_FAILED` with the report, and then nothing was changed;
   * `CATALOG_IMPORT_INTERRUPTED` with the report, when the process stops.
   */
  async function importCsv(stream: Readable, options: ImportOptions = {}, onProgress: OnProgress = () => {}) {
    const { mode = 'best_effort', stopping } = options
    try {
      const file = await spool(stream, IMPORT_BYTES_MAX)
      return await importFile(file, mode, stopping, onProgress).finally(file.remove)
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
    stopping: AbortSignal | undefined,
    onProgress: OnProgress
  ): Promise<Report> {
    const unread = inventory ? [] : STOCK_FIELDS
    const { header, rowsTotal } = await checkTable(
      file,
      cells => readHeader(cells, unread),
      () => onProgress({ rows: 0, rowsTotal: null })
    )
    const progress = (report: Report) => onProgress({ rows: report.rows, rowsTotal })
    const read = (report: Report) =>
      readBatches(file, { header, currency, stopping }, report, () => progress(report))
    const report = await (mode === 'best_effort' ? importSome : importAll)(
      () => emptyReport(mode, header.ignored),
      read,
      progress
    )
    report.errors.sort((a, b) => a.row - b.row)
    // PostgreSQL would do it by itself in a minute; until then it plans searches for the few products of before.
    if (report.rows >= ANALYZED_ROWS_MIN) await db.run(repository.analyzeTables).catch(() => {})
    return report
  }

  type Read = (report: Report) => AsyncIterable<ProductDraft[]>
  type OnBatch = (report: Report) => void

  async function importSome(newReport: () => Report, read: Read, onBatch: OnBatch): Promise<Report> {
    const report = newReport()
    try {
      for await (const drafts of read(report)) {
        const startedAt = performance.now()
        for (const outcome of await applySeparately(drafts)) addOutcome(report, outcome)
        await untilCounted(() => onBatch(report))
        await delay(Math.min(performance.now() - startedAt, REST_MS_MAX))
      }
    } catch (error) {
      throw error instanceof FileInterrupted ? interrupted(report, error) : error
    }
    return report
  }

  /** What a file says that there is, is there before anybody is told that it was imported. */
  async function untilCounted(onWait: () => void): Promise<void> {
    onWait()
    for (let tries = 0; inventory && tries < COUNTED_TRIES_MAX && !(await inventory.counted()); tries += 1)
      onWait()
  }

  /** When the database refuses a batch, its halves are tried by themselves, until only what is at fault is left. */
  async function applySeparately(drafts: readonly ProductDraft[]): Promise<Outcome[]> {
    try {
      const outcome = await db.transaction(async tx => {
        const applied = await applyBatch(tx, drafts, { currency, inventory })
        if (applied.changedIds.length > 0) await changes.announce(tx, applied.changedIds)
        return applied
      }, withoutEnd)
      return [outcome]
    } catch (error) {
      const [first] = drafts
      if (first === undefined || !isAboutProducts(error)) throw error
      if (drafts.length === 1) return [refusedByDatabase(first, error)]
      const middle = Math.ceil(drafts.length / 2)
      return [
        ...(await applySeparately(drafts.slice(0, middle))),
        ...(await applySeparately(drafts.slice(middle)))
      ]
    }
  }

  async function importAll(newReport: () => Report, read: Read, onBatch: OnBatch): Promise<Report> {
    let underWay: readonly ProductDraft[] = []
    // The transaction may have to run again, and then starts with a new report.
    const importing = db.transaction(async tx => {
      const report = newReport()
      for await (const drafts of read(report)) {
        // Once there is a fault, the rest is only read to find the others.
        if (report.errors_total > 0) continue
        underWay = drafts
        const outcome = await applyBatch(tx, drafts, { currency, inventory })
        addOutcome(report, outcome)
        if (outcome.changedIds.length > 0) await changes.announce(tx, outcome.changedIds)
        onBatch(report)
      }
      if (report.errors_total > 0) {
        const { failed } = report.products
        const { products, variants } = noCounts()
        throw importFailed({
          details: { report: { ...report, products: { ...products, failed }, variants } }
        })
      }
      return report
    }, withoutEnd)
    const report = await importing.catch(error => {
      const isFinal =
        error instanceof DomainError && (error.kind === 'unavailable' || error.code === importFailed.code)
      throw isFinal || !isAboutProducts(error) ? error : batchRefused(underWay, error)
    })
    await untilCounted(() => onBatch(report))
    return report
  }

  return importCsv
}
export type ImportCsv = ReturnType<typeof createImporter>

type Reading = { header: Header; currency: string; stopping: AbortSignal | undefined }

const interrupted = (report: Report, cause: FileInterrupted) =>
  importInterrupted({ cause, details: { report, first_row_left: cause.row } })

/** The products of the file, some 250 rows at a time. What is wrong with the others goes into the report. */
async function* readBatches(
  file: Spooled,
  { header, currency, stopping }: Reading,
  report: Report,
  onRow: () => void
): AsyncGenerator<ProductDraft[]> {
  const seen = new Set<string>()
  let batch: ProductDraft[] = []
  let rows = 0
  let size = 0
  let rowsBegun = 0
  for await (const group of groupRows(countRows(file, report, onRow), header)) {
    if (batch.length === 0 && stopping?.aborted) {
      // Rows of this product, and of the next one, were read.
      report.rows = rowsBegun
      throw new FileInterrupted(group.rows[0]?.row ?? FIRST_ROW)
    }
    rowsBegun += group.rows.length
    const parsed = productOf(group, header, currency)
    if ('problems' in parsed) {
      addFailure(report, parsed.problems)
    } else if (seen.has(parsed.draft.slug)) {
      const message = 'The rows of a product must follow each other; there were some further up.'
      addFailure(report, [{ row: parsed.draft.row, handle: group.handle, message }])
    } else {
      seen.add(copyOf(parsed.draft.slug))
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

async function* countRows(file: Spooled, report: Report, onRow: () => void): AsyncGenerator<CsvRecord> {
  for await (const record of readTable(file)) {
    report.rows += 1
    onRow()
    yield record
  }
}

function addOutcome(report: Report, { counts, failures }: Outcome): void {
  addCounts(report, counts)
  for (const problems of failures) addFailure(report, problems)
}

/** Whether it was the database that refused something, or was too busy for it, and not gone. */
const isAboutProducts = (error: unknown): boolean =>
  error instanceof DomainError
    ? error.code !== databaseUnavailable.code
    : error instanceof Error && 'severity' in error

const refusedByDatabase = (draft: ProductDraft, error: unknown): Outcome => ({
  counts: noCounts(),
  changedIds: [],
  failures: [
    [{ row: draft.row, handle: draft.slug, message: `The database refused it: ${reasonOf(error)}.` }]
  ]
})

function batchRefused(drafts: readonly ProductDraft[], error: unknown): FileRefused {
  const [first, last] = [drafts.at(0)?.row ?? 1, drafts.at(-1)?.row]
  const message = `The database refused the products from here to row ${last}: ${reasonOf(error)}.`
  return new FileRefused(first, message, error)
}

function reasonOf(error: unknown): string {
  const isTaken =
    error instanceof DomainError && (error.code === slugTaken.code || error.code === skuTaken.code)
  if (isTaken) return 'somebody else took its handle or SKU at the same moment; import the file again'
  return error instanceof Error ? error.message : String(error)
}
