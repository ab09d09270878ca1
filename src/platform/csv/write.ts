import { Readable } from 'node:stream'

export type CsvValue = string | number | boolean | null

const QUOTED = /[",\r\n]/
/** Starts of cells that a spreadsheet reads as a formula, full-width forms included, and cells that are escaped already. */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/**
 * Returns one line of a CSV file (RFC 4180). Text that a spreadsheet would run as a formula gets a leading apostrophe, the
 * escape of spreadsheets themselves.
 */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(cellOf).join(',')}\r\n`

function cellOf(value: CsvValue): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The text of a cell that no spreadsheet runs as a formula. */
export const unescapeCsvFormula = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell

/** A file that is generated while it is sent. Its header is sent with the first rows, so that an error before them can still be a status. */
export const createCsvStream = (columns: readonly string[], rows: AsyncIterable<string>): Readable =>
  Readable.from(withHeading(csvLine(columns), rows), { objectMode: false })

async function* withHeading(heading: string, rows: AsyncIterable<string>): AsyncGenerator<string> {
  let before = heading
  for await (const lines of rows) {
    yield before + lines
    before = ''
  }
  if (before !== '') yield before
}
