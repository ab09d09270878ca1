import type { Readable } from 'node:stream'
import { type CsvError, parse } from 'csv-parse'
import type { Field, Header } from './header.ts'
import { FileRefused } from './report.ts'

/** One record of the file. `row` is the line on which it starts, the header's being 1. */
export type CsvRecord = { row: number; cells: string[] }
/** One record with its columns known. */
export type Row = { row: number; width: number; cell(field: Field): string | undefined }
/** The consecutive rows of one product. `isCut`: there are more than can be of use. */
export type Group = { handle: string; rows: Row[]; isCut: boolean }

const RECORD_BYTES_MAX = 8_388_608
// 250 variants and as many rows with images, and then some.
const GROUP_ROWS_MAX = 1_000

/** The records of a CSV file (RFC 4180, and what spreadsheets make of it). @throws FileRefused */
export async function* readRecords(file: Readable): AsyncGenerator<CsvRecord> {
  const parser = parse({
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: RECORD_BYTES_MAX
  })
  file.once('error', error => parser.destroy(error))
  let row = 1
  try {
    for await (const cells of file.pipe(parser) as AsyncIterable<string[]>) {
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

// The parser counts lines too, but a line break of two characters within quotes twice.
function lineBreaksIn(cells: readonly string[]): number {
  let breaks = 0
  for (const cell of cells) {
    if (cell.includes('\n') || cell.includes('\r')) breaks += cell.match(/\r\n|\r|\n/g)?.length ?? 0
  }
  return breaks
}

/** Puts the rows of a product together. What lies apart from its other rows is a group of its own. */
export async function* groupRows(records: AsyncIterable<CsvRecord>, header: Header): AsyncGenerator<Group> {
  let group: Group | undefined
  for await (const record of records) {
    const row = rowOf(record, header)
    const handle = (row.cell('handle') ?? '').trim()
    if (group !== undefined && group.handle === handle) {
      if (group.rows.length < GROUP_ROWS_MAX) group.rows.push(row)
      else group.isCut = true
    } else {
      if (group !== undefined) yield group
      group = { handle, rows: [row], isCut: false }
    }
  }
  if (group !== undefined) yield group
}

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
