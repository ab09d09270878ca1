import { CSV_RECORD_BYTES_MAX, type CsvRecord } from '../../../platform/csv/records.ts'
import { unescapeCsvFormula } from '../../../platform/csv/write.ts'
import type { ShopifyCsvColumn, ShopifyCsvHeader } from './header.ts'

/** A record of the file whose cells are read by field. */
export type ProductImportRow = {
  row: number
  width: number
  cell(field: ShopifyCsvColumn): string | undefined
}
/**
 * The consecutive rows of one product, about `size` bytes. `problem`: the limit after which rows were not
 * read.
 */
export type ProductCsvRowGroup = {
  handle: string
  rows: ProductImportRow[]
  size: number
  problem: string | null
}

// Maximum number of rows of a product: more than one with 250 variants and 250 images needs.
const GROUP_ROWS_MAX = 1_000
/**
 * Maximum bytes of the rows of a product: five times those of a valid product. A single record can be as
 * large; its cells are rejected then.
 */
const GROUP_SIZE_MAX = CSV_RECORD_BYTES_MAX
const CELL_OVERHEAD_BYTES = 16

/** Groups consecutive rows with the same handle. Rows of a product that are apart form separate groups. */
export async function* groupCsvRowsByProduct(
  records: AsyncIterable<CsvRecord>,
  header: ShopifyCsvHeader
): AsyncGenerator<ProductCsvRowGroup> {
  let group: ProductCsvRowGroup | undefined
  for await (const record of records) {
    const row = rowOf(record, header)
    const handle = (row.cell('handle') ?? '').trim()
    const size = sizeOf(record)
    if (group !== undefined && group.handle === handle) {
      group.problem ??= limitProblem(group, size)
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

function limitProblem({ rows, size }: ProductCsvRowGroup, more: number): string | null {
  if (rows.length === GROUP_ROWS_MAX) return `The product has more than ${GROUP_ROWS_MAX} rows.`
  if (size + more > GROUP_SIZE_MAX) return `The rows of the product have more than ${GROUP_SIZE_MAX} bytes.`
  return null
}

const sizeOf = ({ cells }: CsvRecord) =>
  cells.reduce((size, cell) => size + cell.length + CELL_OVERHEAD_BYTES, 0)

function rowOf({ row, cells }: CsvRecord, { indexes }: ShopifyCsvHeader): ProductImportRow {
  return {
    row,
    width: cells.length,
    cell: field => {
      const index = indexes.get(field)
      return index === undefined ? undefined : unescapeCsvFormula(cells[index] ?? '')
    }
  }
}
