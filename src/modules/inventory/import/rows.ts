import { isId } from '../../../kernel/ids.ts'
import { copyOf } from '../../../platform/csv/columns.ts'
import type { CsvRecord } from '../../../platform/csv/records.ts'
import { textOf } from '../../../platform/csv/write.ts'
import type { Field, Header } from './header.ts'
import type { Problem } from './report.ts'

/** How a variant is counted, as far as a row says it. An empty cell says nothing. */
export type Said = {
  tracked?: boolean
  backorder?: 'none' | 'limit' | 'any'
  backorder_limit?: number
  low_threshold?: number
}
/** One row. `variant`: its id, or its SKU where it has none, as the file has it. */
export type StockRow = {
  readonly row: number
  readonly variant: string
  readonly variantId: string | null
  readonly sku: string | null
  /** As the file calls it; null: the one from which stock is taken first. */
  readonly location: string | null
  readonly said: Said
  readonly onHand: number | null
  readonly safety: number | null
  readonly sourceVersion: number | null
}

const QUANTITY_MAX = 1_000_000_000
const TEXT_MAX = 255
const UNPRINTABLE = /[\u0000-\u001f\u007f\ufffd]/
const WHOLE = /^-?\d{1,16}$/
/** Shopify: the variant is never kept at this location. */
const NOT_STOCKED = 'not stocked'
const RULES = ['none', 'limit', 'any'] as const

/** Reads one row, or says what is wrong with it. */
export function readRow(record: CsvRecord, header: Header): StockRow | Problem[] {
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
  const read: StockRow = {
    row,
    variant: variant ?? '',
    variantId: variantId?.toLowerCase() ?? null,
    sku,
    location: text('location'),
    said: {
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

/** Reads the cells of one row and notes what is wrong with them; null and undefined: the file does not say. */
function cellsOf({ row, cells }: CsvRecord, header: Header) {
  const problems: Problem[] = []
  const cellOf = (field: Field) => (cells[header.indexes.get(field) ?? -1] ?? '').trim()
  const variant = copyOf((cellOf('variantId') || cellOf('sku')).slice(0, TEXT_MAX)) || null
  const refuse = (field: Field, message: string) =>
    problems.push({ row, variant, column: header.headingOf(field), message })

  return {
    variant,
    problems,
    refuse,
    text: (field: Field): string | null => {
      const cell = cellOf(field)
      if (cell.length > TEXT_MAX)
        refuse(field, `This has ${cell.length} characters; ${TEXT_MAX} are allowed.`)
      else if (UNPRINTABLE.test(cell)) refuse(field, 'This is not one line of UTF-8.')
      else return cell === '' ? null : copyOf(textOf(cell))
      return null
    },
    whole: (field: Field, least: number, most: number): number | null => {
      const cell = cellOf(field)
      if (cell === '' || (field === 'onHand' && cell.toLowerCase() === NOT_STOCKED)) return null
      const number = WHOLE.test(cell) ? Number(cell) : Number.NaN
      if (!(number >= least && number <= most))
        refuse(field, `This is not a whole number from ${least} to ${most}.`)
      return number
    },
    word: <W extends string>(field: Field, words: readonly W[]): W | undefined => {
      const cell = cellOf(field).toLowerCase()
      const found = words.find(each => each === cell)
      if (cell !== '' && found === undefined) refuse(field, `This must be ${words.join(' or ')}.`)
      return found
    }
  }
}
