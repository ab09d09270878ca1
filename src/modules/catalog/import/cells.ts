import { AMOUNT_MAX, currencyDecimalPlaces, parseAmount } from '../../../kernel/money.ts'
import { HTTP_URL_PATTERN, URL_LENGTH_MAX } from '../products/fields.ts'
import { WEIGHT_GRAMS_MAX } from '../variants/schema.ts'
import type { ShopifyCsvColumn, ShopifyCsvHeader } from './header.ts'
import type { ProductImportProblem } from './report.ts'
import type { ProductImportRow } from './rows.ts'

/** Reads the cells of one product and collects their problems. */
export type ProductCsvCellReader = {
  problems: ProductImportProblem[]
  /** Returns the text of a cell as one line. `undefined`: the file has no such column. */
  text(row: ProductImportRow, field: ShopifyCsvColumn, lengthMax: number): string | undefined
  url(row: ProductImportRow, field: ShopifyCsvColumn): string | null | undefined
  /** Returns an amount in minor units. Null: the cell is empty. */
  amount(row: ProductImportRow, field: ShopifyCsvColumn): number | null
  grams(row: ProductImportRow): number | null | undefined
  /** Returns a boolean. `undefined`: the cell is empty or the column is missing. */
  flag(row: ProductImportRow, field: ShopifyCsvColumn): boolean | undefined
  reject(row: ProductImportRow, field: ShopifyCsvColumn, message: string): void
  /**
   * Returns a quantity, which can be negative in Shopify. `undefined`: the cell is empty or the column is
   * missing.
   */
  count(row: ProductImportRow, field: ShopifyCsvColumn): number | undefined
  /** Returns the heading of the column in the file. */
  headingOf(field: ShopifyCsvColumn): string
}

const url = new RegExp(HTTP_URL_PATTERN, 'u')
const COUNT_MAX = 1_000_000_000
const COUNT = /^-?\d{1,10}$/
const DECIMAL = /^\d{1,12}(?:\.\d{1,6})?$/

export function createProductCsvCellReader(
  handle: string,
  header: ShopifyCsvHeader,
  currency: string
): ProductCsvCellReader {
  const problems: ProductImportProblem[] = []
  const reject = (row: ProductImportRow, field: ShopifyCsvColumn, message: string) => {
    problems.push({ row: row.row, handle: handle || null, column: header.headingOf(field), message })
  }

  function text(row: ProductImportRow, field: ShopifyCsvColumn, lengthMax: number) {
    const cell = row.cell(field)
    if (cell === undefined) return undefined
    const line = cell.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim()
    if (line.length > lengthMax)
      reject(row, field, `This has ${line.length} characters; ${lengthMax} are allowed.`)
    if (line.includes('\ufffd')) reject(row, field, 'This is not UTF-8.')
    return line
  }

  return {
    problems,
    reject,
    headingOf: header.headingOf,
    text,
    url: (row, field) => {
      const address = text(row, field, URL_LENGTH_MAX)
      if (address === undefined || address === '') return address === undefined ? undefined : null
      if (!url.test(address)) reject(row, field, 'This is not an http or https address.')
      return address
    },
    amount: (row, field) => {
      const decimal = (row.cell(field) ?? '').trim()
      if (decimal === '') return null
      const amount = parseAmount(decimal, currency)
      if (amount !== undefined) return amount
      const most = AMOUNT_MAX / 10 ** (currencyDecimalPlaces[currency] ?? 0)
      reject(
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
      if (!(grams <= WEIGHT_GRAMS_MAX))
        reject(row, 'grams', `This is not a weight from 0 to ${WEIGHT_GRAMS_MAX} grams.`)
      return grams
    },
    flag: (row, field) => {
      const word = row.cell(field)?.trim().toLowerCase() ?? ''
      if (word === '') return undefined
      if (word !== 'true' && word !== 'false') reject(row, field, 'This must be true or false.')
      return word === 'true'
    },
    count: (row, field) => {
      const decimal = row.cell(field)?.trim() ?? ''
      if (decimal === '') return undefined
      const count = COUNT.test(decimal) ? Number(decimal) : Number.NaN
      if (!(Math.abs(count) <= COUNT_MAX))
        reject(row, field, `This is not a whole number from -${COUNT_MAX} to ${COUNT_MAX}.`)
      return count
    }
  }
}

const example = (currency: string) => (19.99).toFixed(currencyDecimalPlaces[currency] ?? 0)
