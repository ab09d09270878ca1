import { pipeline, type Readable } from 'node:stream'
import type { CsvError, Parser } from 'csv-parse'
import type { Field, Header } from './header.ts'
import { FileRefused } from './report.ts'

/** One record of the file. `row` is the line on which it starts, the header's being 1. */
export type CsvRecord = { row: number; cells: string[] }
/** One record with its columns known. */
export type Row = { row: number; width: number; cell(field: Field): string | undefined }
/**
 * The consecutive rows of one product, `size` bytes of them or so. `problem`: why there are more of them in the file,
 * which are not read.
 */
export type Group = { handle: string; rows: Row[]; size: number; problem: string | null }

const RECORD_BYTES_MAX = 8_388_608
// 250 variants and as many rows with images, and then some.
const GROUP_ROWS_MAX = 1_000
/** Five times of what a product can have. A single record may be as large, and is then refused by its cells. */
const GROUP_SIZE_MAX = RECORD_BYTES_MAX
const CELL_OVERHEAD_BYTES = 16
/** As many as the longest description may have, and more. */
const COMMAS_MAX = 250_000
/** The parser hands this on to Node's stream, which would read 16 records ahead. */
const STREAM_OPTIONS = { readableHighWaterMark: 1 }
const COMMA = 0x2c
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** The records of a CSV file (RFC 4180, and what spreadsheets make of it). @throws FileRefused */
export async function* readRecords(file: Readable): AsyncGenerator<CsvRecord> {
  const { parse } = await import('csv-parse')
  const parser = parse({
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: RECORD_BYTES_MAX,
    ...STREAM_OPTIONS
  })
  let row = 1
  const tooMany = () => new FileRefused(row, `A row from here on has more than ${COMMAS_MAX} commas.`)
  // What fails there ends the parser, and so the loop, with the same error.
  pipeline(file, limitCommas(parser, tooMany), parser, () => {})
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      if (cells.length > 1 || cells[0] !== '') yield { row, cells }
      row += 1 + lineBreaksIn(cells)
    }
  } catch (error) {
    if (!String((error as CsvError).code).startsWith('CSV_')) throw error
    throw new FileRefused(
      row,
      `From here on the file cannot be read as CSV: ${(error as Error).message}.`,
      error
    )
  } finally {
    file.destroy()
  }
}

/** The parser limits the bytes of a record, and empty cells have none: 500 MB of commas would be one record. */
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

// The parser counts lines too, but a line break of two characters within quotes twice.
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

/** Puts the rows of a product together. What lies apart from its other rows is a group of its own. */
export async function* groupRows(records: AsyncIterable<CsvRecord>, header: Header): AsyncGenerator<Group> {
  let group: Group | undefined
  for await (const record of records) {
    const row = rowOf(record, header)
    const handle = (row.cell('handle') ?? '').trim()
    const size = sizeOf(record)
    if (group !== undefined && group.handle === handle) {
      group.problem ??= excessOf(group, size)
      if (group.problem !== null) continue
      group.rows.push(row)
      group.size += size
    } else {
      if (group !== undefined) yield group
      group = { handle, rows: [row], size, problem: null }
    }
  }
  if (group !== undefined) yield group
}

function excessOf({ rows, size }: Group, more: number): string | null {
  if (rows.length === GROUP_ROWS_MAX) return `The product has more than ${GROUP_ROWS_MAX} rows.`
  if (size + more > GROUP_SIZE_MAX) return `The rows of the product have more than ${GROUP_SIZE_MAX} bytes.`
  return null
}

const sizeOf = ({ cells }: CsvRecord) =>
  cells.reduce((size, cell) => size + cell.length + CELL_OVERHEAD_BYTES, 0)

function rowOf({ row, cells }: CsvRecord, { indexes }: Header): Row {
  return {
    row,
    width: cells.length,
    cell: field => {
      const index = indexes.get(field)
      return index === undefined ? undefined : (cells[index] ?? '')
    }
  }
}
