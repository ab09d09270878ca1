import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { catalogModule } from '../modules/catalog/index.ts'
import { inventoryModule } from '../modules/inventory/index.ts'
import { ordersModule } from '../modules/orders/index.ts'
import { parseInstantOption } from './instant.ts'
import { withShopModulesForCommand } from './with-shop.ts'

type Output = { json: boolean }
type OrderFilters = {
  status?: 'pending' | 'paid' | 'shipped' | 'completed' | 'canceled'
  from?: string
  to?: string
  rows?: 'orders' | 'lines' | 'taxes'
}
/** A product that the file format cannot express, and why. */
type LeftOut = { slug: string; reason: string }

/** The file name that means standard output. */
const STANDARD_OUTPUT = '-'
const LINE_EVERY_ROWS = 10_000

/** Exports all products to a file that `import` can read. */
export const exportProductsToFile = (
  modules: readonly Module[],
  file: string,
  { stock, ...output }: Output & { stock: boolean }
): Promise<void> =>
  withShopModulesForCommand(modules, ({ apiOf }) => {
    const leftOut: LeftOut[] = []
    const csv = apiOf(catalogModule).exportCsv({ stock }, (slug, reason) => leftOut.push({ slug, reason }))
    return write(csv, file, output, leftOut)
  })

/** Exports stock to a file, one row per variant and location. */
export const exportStockToFile = (modules: readonly Module[], file: string, output: Output): Promise<void> =>
  withShopModulesForCommand(modules, ({ apiOf }) => write(apiOf(inventoryModule).exportCsv(), file, output))

/** Exports orders to a file, newest first. */
export const exportOrdersToFile = (
  modules: readonly Module[],
  file: string,
  { status, from, to, rows, ...output }: Output & OrderFilters
): Promise<void> => {
  const filters = {
    ...(status !== undefined && { status }),
    ...(rows !== undefined && { rows }),
    ...(from !== undefined && { from: parseInstantOption('--from', from).toISOString() }),
    ...(to !== undefined && { to: parseInstantOption('--to', to).toISOString() })
  }
  return withShopModulesForCommand(modules, ({ apiOf }) =>
    write(apiOf(ordersModule).exportCsv(filters), file, output)
  )
}

/** Writes an export to a new file. Never overwrites one, and deletes an incomplete one. */
async function write(csv: Readable, file: string, { json }: Output, leftOut: readonly LeftOut[] = []) {
  const isFile = file !== STANDARD_OUTPUT
  const counted = { rows: -1 }
  const destination: Writable = isFile ? createWriteStream(file, { flags: 'wx' }) : process.stdout
  try {
    await pipeline(csv, countRows(counted), destination, { end: isFile })
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException
    // The reader of the pipe closed it, such as `head`.
    if (!isFile && code === 'EPIPE') return
    if (code === 'EEXIST') throw new OperatorError(`${file} already exists. Name another file.`)
    if (isFile && syscall !== 'open') await rm(file, { force: true })
    if (syscall === undefined) throw error
    throw new OperatorError(`Cannot write ${file}: ${message}`)
  }
  // With `-`, standard output holds the CSV, so the report goes to standard error.
  const report = isFile ? process.stdout : process.stderr
  const { rows } = counted
  if (json) {
    report.write(`${JSON.stringify({ file, rows, left_out: leftOut })}\n`)
    return
  }
  for (const { slug, reason } of leftOut) report.write(`left out: ${slug}: ${reason}\n`)
  report.write(`Exported ${rows} rows${isFile ? ` to ${file}` : ''}.\n`)
}

/** Passes the chunks through and counts rows, without the header. A line end within quotes does not end a row. */
const countRows = (counted: { rows: number }) =>
  async function* (chunks: AsyncIterable<string | Buffer>) {
    let isQuoted = false
    let next = LINE_EVERY_ROWS
    for await (const chunk of chunks) {
      for (const letter of String(chunk)) {
        if (letter === '"') isQuoted = !isQuoted
        else if (letter === '\n' && !isQuoted) counted.rows += 1
      }
      if (counted.rows >= next) {
        process.stderr.write(`${counted.rows} rows\n`)
        next = counted.rows + LINE_EVERY_ROWS
      }
      yield chunk
    }
  }
