import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { SingleBar } from 'cli-progress'
import { DomainError, OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { catalogModule, type ImportProgress, type ImportReport } from '../modules/catalog/index.ts'
import { withShopModulesForCommand } from './with-shop.ts'

const ERRORS_SHOWN = 20
const COLUMNS_SHOWN = 20
const LINE_EVERY_ROWS = 10_000

/** Imports a product CSV file as Shopify exports it. Exit code 1 when any product could not be imported. */
export async function importProducts(
  modules: readonly Module[],
  file: string,
  { mode, json }: { mode: 'best_effort' | 'all_or_nothing'; json: boolean }
): Promise<void> {
  await access(file, constants.R_OK).catch(error => {
    throw new OperatorError(`Cannot read ${resolve(file)}: ${(error as Error).message}`)
  })
  if ((await stat(file)).isDirectory()) throw new OperatorError(`Cannot read ${file}: it is a folder.`)
  const report = await withShopModulesForCommand(modules, async ({ apiOf }) => {
    const catalog = apiOf(catalogModule)
    const bar = process.stderr.isTTY ? barProgress() : lineProgress()
    return catalog
      .importCsv(createReadStream(file), { mode }, bar.update)
      .finally(bar.stop)
      .catch(error => refusedReport(error, json))
  })
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : describe(report))
  if (report.products.failed > 0) process.exitCode = 1
}

/** Shows progress on standard error, because standard output is for the report. */
type ProgressView = { update(progress: ImportProgress): void; stop(): void }

function barProgress(): ProgressView {
  const bar = new SingleBar({ format: '{bar} {percentage}% | {value}/{total} rows | {eta_formatted} left' })
  let started = false
  return {
    update: ({ rows, rowsTotal }) => {
      if (rowsTotal === null) return
      if (!started) bar.start(rowsTotal, 0)
      started = true
      bar.update(rows)
    },
    stop: () => bar.stop()
  }
}

function lineProgress(): ProgressView {
  let next = LINE_EVERY_ROWS
  return {
    update: ({ rows, rowsTotal }) => {
      if (rows < next) return
      process.stderr.write(`${rows} of ${rowsTotal} rows\n`)
      next = rows + LINE_EVERY_ROWS
    },
    stop: () => {}
  }
}

/** Handles a file that was rejected as a whole: an OperatorError for people, the usual report as JSON for programs. */
function refusedReport(error: unknown, json: boolean): ImportReport {
  if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error
  const report = error.details.report as ImportReport
  if (!json) throw new OperatorError(`${error.message}\n${describe(report).trimEnd()}`)
  process.exitCode = 1
  return report
}

function describe(report: ImportReport): string {
  const { rows, products, variants, errors, errors_total } = report
  const shown = errors.slice(0, ERRORS_SHOWN)
  return [
    `${rows} ${rows === 1 ? 'row' : 'rows'}`,
    `products: ${counts(products)}`,
    `variants: ${counts(variants)}`,
    ...ignoredColumns(report),
    ...shown.map(
      ({ row, handle, column, message }) =>
        `${[`row ${row}`, handle, column].filter(Boolean).join(', ')}: ${message}`
    ),
    ...(errors_total > shown.length ? [`and ${errors_total - shown.length} more errors`] : []),
    ''
  ].join('\n')
}

function ignoredColumns({ ignored_columns, ignored_columns_total }: ImportReport): string[] {
  const shown = ignored_columns.slice(0, COLUMNS_SHOWN)
  const more = ignored_columns_total - shown.length
  if (shown.length === 0) return []
  return [`ignored columns: ${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`]
}

const counts = (of: Record<string, number>) =>
  Object.entries(of)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')
