import { pipeline, type Readable } from 'node:stream'
import type { CsvError, Parser } from 'csv-parse'

/** One record of the file. `row` is the line on which it starts, counted from 1. */
export type CsvRecord = { row: number; cells: string[] }

export const CSV_RECORD_BYTES_MAX = 8_388_608
/** Maximum bytes of one CSV record: more than the longest text that a cell may have. */
const COMMAS_MAX = 250_000
/** High-water mark that the parser passes to its Node stream, which would read 16 records ahead by default. */
const STREAM_OPTIONS = { readableHighWaterMark: 1 }
const COMMA = 0x2c
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Rejects a whole CSV file; the message says why. */
export class CsvRejectedError extends Error {
  readonly row: number

  constructor(row: number, message: string, cause?: unknown) {
    super(message, { cause })
    this.row = row
  }
}

/** The process stops while it imports a CSV file. `row`: the first row that was not started. */
export class CsvImportShutdownError extends Error {
  readonly row: number

  constructor(row: number) {
    super(`The process stops; the file was imported up to the row before ${row}.`)
    this.row = row
  }
}
/** The row after the header. */
export const FIRST_CSV_ROW = 2

/** Yields the records of a CSV file (RFC 4180, and the variants of spreadsheets). @throws CsvRejectedError */
export async function* readCsvRecords(file: Readable): AsyncGenerator<CsvRecord> {
  const { parse } = await import('csv-parse')
  const parser = parse({
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: CSV_RECORD_BYTES_MAX,
    ...STREAM_OPTIONS
  })
  let row = 1
  const tooMany = () => new CsvRejectedError(row, `A row from here on has more than ${COMMAS_MAX} commas.`)
  // An error of the source destroys the parser, so the loop below throws the same error.
  pipeline(file, limitCommas(parser, tooMany), parser, () => {})
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      if (cells.length > 1 || cells[0] !== '') yield { row, cells }
      row += 1 + lineBreaksIn(cells)
    }
  } catch (error) {
    if (!String((error as CsvError).code).startsWith('CSV_')) throw error
    throw new CsvRejectedError(
      row,
      `From here on the file cannot be read as CSV: ${(error as Error).message}.`,
      error
    )
  } finally {
    file.destroy()
  }
}

/** The parser limits only the bytes of cells, so 500 MB of commas would be one record. */
const limitCommas = (parser: Parser, tooMany: () => Error) =>
  async function* (file: AsyncIterable<Buffer>) {
    let commas = 0
    let recordsBefore = 0
    for await (const chunk of file) {
      if (parser.info.records > recordsBefore) commas = 0
      recordsBefore = parser.info.records
      for (const byte of chunk) if (byte === COMMA) commas += 1
      if (commas > COMMAS_MAX) throw tooMany()
      yield chunk
    }
  }

// The parser counts a CRLF within quotes as two lines.
function lineBreaksIn(cells: readonly string[]): number {
  let breaks = 0
  for (const cell of cells) {
    if (!cell.includes('\n') && !cell.includes('\r')) continue
    for (let index = 0; index < cell.length; index++) {
      const code = cell.charCodeAt(index)
      if (code === LINE_FEED || (code === CARRIAGE_RETURN && cell.charCodeAt(index + 1) !== LINE_FEED))
        breaks += 1
    }
  }
  return breaks
}
