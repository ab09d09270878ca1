import { Readable } from 'node:stream'

export type CsvValue = string | number | boolean | null

const QUOTED = /[",\r\n]/
/** What a spreadsheet would take for a formula, and what looks like one that was told apart already. */
const FORMULA = /^'*[=+\-@\t\r]/

/**
 * One line of a CSV file (RFC 4180). Text that a spreadsheet would run as a formula gets an apostrophe in front, which is
 * how spreadsheets themselves tell it apart.
 */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(cellOf).join(',')}\r\n`

function cellOf(value: CsvValue): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The text of a cell, of which a spreadsheet would not make a formula. */
export const textOf = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell

/** A file that is read while it is sent. Its heading comes with the first rows: while these cannot be read, an answer is refused. */
export const csvFile = (columns: readonly string[], rows: AsyncIterable<string>): Readable =>
  Readable.from(withHeading(csvLine(columns), rows), { objectMode: false })

async function* withHeading(heading: string, rows: AsyncIterable<string>): AsyncGenerator<string> {
  let before = heading
  for await (const lines of rows) {
    yield before + lines
    before = ''
  }
  if (before !== '') yield before
}
