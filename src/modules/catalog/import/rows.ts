import { type CsvRecord, RECORD_BYTES_MAX } from '../../../platform/csv/records.ts'
import { textOf } from '../../../platform/csv/write.ts'
import type { Field, Header } from './header.ts'

/** One record with its columns known. */
export type Row = { row: number; width: number; cell(field: Field): string | undefined }
/**
 * The consecutive rows of one product, `size` bytes of them or so. `problem`: why there are more of them in the file,
 * which are not read.
 */
export type Group = { handle: string; rows: Row[]; size: number; problem: string | null }

// 250 variants and as many rows with images, and then some.
const GROUP_ROWS_MAX = 1_000
/** Five times of what a product can have. A single record may be as large, and is then refused by its cells. */
const GROUP_SIZE_MAX = RECORD_BYTES_MAX
const CELL_OVERHEAD_BYTES = 16

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
      return index === undefined ? undefined : textOf(cells[index] ?? '')
    }
  }
}
