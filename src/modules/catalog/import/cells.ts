import { AMOUNT_MAX, currencies, parseAmount } from '../../../kernel/money.ts'
import { HTTP_URL, URL_LENGTH_MAX } from '../products/fields.ts'
import { WEIGHT_MAX } from '../variants/schema.ts'
import type { Field, Header } from './header.ts'
import type { Problem } from './report.ts'
import type { Row } from './rows.ts'

/** Reads the cells of one product and notes what is wrong with them. */
export type Cells = {
  problems: Problem[]
  /** One line of text. `undefined` when the file has no such column; empty when the cell is. */
  text(row: Row, field: Field, lengthMax: number): string | undefined
  url(row: Row, field: Field): string | null | undefined
  /** Minor units; `null` when the cell is empty. */
  amount(row: Row, field: Field): number | null
  grams(row: Row): number | null | undefined
  /** `undefined` when the file does not say. */
  flag(row: Row, field: Field): boolean | undefined
  refuse(row: Row, field: Field, message: string): void
  /** How many there are; `undefined` when the file does not say. Shopify's stock may be below zero. */
  count(row: Row, field: Field): number | undefined
  /** What the file calls the column. */
  headingOf(field: Field): string
}

const url = new RegExp(HTTP_URL, 'u')
const COUNT_MAX = 1_000_000_000
const COUNT = /^-?\d{1,10}$/
const DECIMAL = /^\d{1,12}(?:\.\d{1,6})?$/

export function cellsOf(handle: string, header: Header, currency: string): Cells {
  const problems: Problem[] = []
  const refuse = (row: Row, field: Field, message: string) => {
    problems.push({ row: row.row, handle: handle || null, column: header.headingOf(field), message })
  }

  function text(row: Row, field: Field, lengthMax: number) {
    const cell = row.cell(field)
    if (cell === undefined) return undefined
    const line = cell.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim()
    if (line.length > lengthMax)
      refuse(row, field, `This has ${line.length} characters; ${lengthMax} are allowed.`)
    if (line.includes('\ufffd')) refuse(row, field, 'This is not UTF-8.')
    return line
  }

  return {
    problems,
    refuse,
    headingOf: header.headingOf,
    text,
    url: (row, field) => {
      const address = text(row, field, URL_LENGTH_MAX)
      if (address === undefined || address === '') return address === undefined ? undefined : null
      if (!url.test(address)) refuse(row, field, 'This is not an http or https address.')
      return address
    },
    amount: (row, field) => {
      const decimal = (row.cell(field) ?? '').trim()
      if (decimal === '') return null
      const amount = parseAmount(decimal, currency)
      if (amount !== undefined) return amount
      const most = AMOUNT_MAX / 10 ** (currencies[currency] ?? 0)
      refuse(
        row,
        field,
        `This is not an amount in ${currency} from 0 to ${most}, such as ${example(currency)}.`
      )
      return null
    },
    grams: row => {
      const decimal = row.cell('grams')?.trim()
      if (decimal === undefined || decimal === '') return decimal === undefined ? undefined : null
      const grams = DECIMAL.test(decimal) ? Math.round(Number(decimal)) : Number.NaN
      if (!(grams <= WEIGHT_MAX)) refuse(row, 'grams', `This is not a weight from 0 to ${WEIGHT_MAX} grams.`)
      return grams
    },
    flag: (row, field) => {
      const word = row.cell(field)?.trim().toLowerCase() ?? ''
      if (word === '') return undefined
      if (word !== 'true' && word !== 'false') refuse(row, field, 'This must be true or false.')
      return word === 'true'
    },
    count: (row, field) => {
      const decimal = row.cell(field)?.trim() ?? ''
      if (decimal === '') return undefined
      const count = COUNT.test(decimal) ? Number(decimal) : Number.NaN
      if (!(Math.abs(count) <= COUNT_MAX))
        refuse(row, field, `This is not a whole number from -${COUNT_MAX} to ${COUNT_MAX}.`)
      return count
    }
  }
}

const example = (currency: string) => (19.99).toFixed(currencies[currency] ?? 0)
