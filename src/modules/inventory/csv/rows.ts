import { isId } from '../../../kernel/ids.ts'
import { copyTextOutOfCsvCell } from '../../../platform/csv/columns.ts'
import type { CsvRecord } from '../../../platform/csv/records.ts'
import { unescapeCsvFormula } from '../../../platform/csv/write.ts'
import type { StockCsvField, StockCsvHeader } from './header.ts'
import type { StockCsvRowError } from './report.ts'

/** The stock policy fields of a row. An empty cell sets nothing. */
export type StockPolicyFields = {
  tracked?: boolean
  backorder?: 'none' | 'limit' | 'any'
  backorder_limit?: number
  low_threshold?: number
}
/** One row. `variant`: the id or, without one, the SKU, as in the file. */
export type StockCsvRow = {
  readonly row: number
  readonly variant: string
  readonly variantId: string | null
  readonly sku: string | null
  /** Code or name as in the file; null: the active location with the lowest priority number. */
  readonly location: string | null
  readonly policy: StockPolicyFields
  readonly onHand: number | null
  readonly safety: number | null
  readonly sourceVersion: number | null
}

const QUANTITY_MAX = 1_000_000_000
const TEXT_MAX = 255
const UNPRINTABLE = /[\u0000-\u001f\u007f\ufffd]/
const WHOLE = /^-?\d{1,16}$/
/** Shopify's word for a variant that this location does not stock. */
const NOT_STOCKED = 'not stocked'
const RULES = ['none', 'limit', 'any'] as const

/** Parses one row, or returns its errors. */
export function parseStockCsvRow(
  record: CsvRecord,
  header: StockCsvHeader
): StockCsvRow | StockCsvRowError[] {
  const { row, cells } = record
  const { variant, problems, refuse, text, whole, word } = cellsOf(record, header)
  if (cells.length !== header.width) {
    const message = `The row has ${cells.length} columns where the header has ${header.width}.`
    return [{ row, variant, message }]
  }
  const variantId = text('variantId')
  const sku = text('sku')
  if (variantId === null && sku === null && problems.length === 0)
    refuse(header.indexes.has('variantId') ? 'variantId' : 'sku', 'This is missing.')
  if (variantId !== null && !isId(variantId)) refuse('variantId', 'This is not an id.')
  const tracked = word('tracked', ['true', 'false'])
  const backorder = word('backorder', RULES)
  const limit = whole('backorderLimit', 0, QUANTITY_MAX)
  const threshold = whole('lowThreshold', 0, QUANTITY_MAX)
  const read: StockCsvRow = {
    row,
    variant: variant ?? '',
    variantId: variantId?.toLowerCase() ?? null,
    sku,
    location: text('location'),
    policy: {
      ...(tracked !== undefined && { tracked: tracked === 'true' }),
      ...(backorder !== undefined && { backorder }),
      ...(limit !== null && { backorder_limit: limit }),
      ...(threshold !== null && { low_threshold: threshold })
    },
    onHand: whole('onHand', -QUANTITY_MAX, QUANTITY_MAX),
    safety: whole('safety', 0, QUANTITY_MAX),
    sourceVersion: whole('sourceVersion', 0, Number.MAX_SAFE_INTEGER)
  }
  return problems.length > 0 ? problems : read
}

/** Readers for the cells of one row, which collect errors. Null and undefined: the cell is empty. */
function cellsOf({ row, cells }: CsvRecord, header: StockCsvHeader) {
  const problems: StockCsvRowError[] = []
  const cellOf = (field: StockCsvField) => (cells[header.indexes.get(field) ?? -1] ?? '').trim()
  const variant = copyTextOutOfCsvCell((cellOf('variantId') || cellOf('sku')).slice(0, TEXT_MAX)) || null
  const refuse = (field: StockCsvField, message: string) =>
    problems.push({ row, variant, column: header.headingOf(field), message })

  return {
    variant,
    problems,
    refuse,
    text: (field: StockCsvField): string | null => {
      const cell = cellOf(field)
      if (cell.length > TEXT_MAX)
        refuse(field, `This has ${cell.length} characters; ${TEXT_MAX} are allowed.`)
      else if (UNPRINTABLE.test(cell)) refuse(field, 'This is not one line of UTF-8.')
      else return cell === '' ? null : copyTextOutOfCsvCell(unescapeCsvFormula(cell))
      return null
    },
    whole: (field: StockCsvField, least: number, most: number): number | null => {
      const cell = cellOf(field)
      if (cell === '' || (field === 'onHand' && cell.toLowerCase() === NOT_STOCKED)) return null
      const number = WHOLE.test(cell) ? Number(cell) : Number.NaN
      if (!(number >= least && number <= most))
        refuse(field, `This is not a whole number from ${least} to ${most}.`)
      return number
    },
    word: <W extends string>(field: StockCsvField, words: readonly W[]): W | undefined => {
      const cell = cellOf(field).toLowerCase()
      const found = words.find(each => each === cell)
      if (cell !== '' && found === undefined) refuse(field, `This must be ${words.join(' or ')}.`)
      return found
    }
  }
}
