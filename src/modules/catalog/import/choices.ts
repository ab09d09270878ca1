import type { ProductOption } from '../products/repository.ts'
import { OPTION_NAME_LENGTH_MAX, OPTION_VALUE_LENGTH_MAX } from '../products/schema.ts'
import { VARIANTS_PER_PRODUCT_MAX } from '../variants/schema.ts'
import type { ProductCsvCellReader } from './cells.ts'
import type { ProductImportRow } from './rows.ts'

/** A row that is a variant, and its option values. */
export type ProductImportRowWithOptions = { row: ProductImportRow; attributes: Record<string, string> }

export const SHOPIFY_CSV_OPTION_FIELDS = [
  ['option1Name', 'option1Value'],
  ['option2Name', 'option2Value'],
  ['option3Name', 'option3Value']
] as const
/** Shopify's option value of a product without variants. Its option is `Title`. */
export const SHOPIFY_DEFAULT_OPTION_VALUE = 'Default Title'

/**
 * Returns the options of a product and the option values of its variants. Rejects variants that a customer
 * could not select: without a value, with a value of no option, or with the values of another variant.
 */
export function readImportedProductOptions(
  cells: ProductCsvCellReader,
  rows: readonly ProductImportRow[],
  first: ProductImportRow
) {
  const names = SHOPIFY_CSV_OPTION_FIELDS.map(
    ([field]) => cells.text(first, field, OPTION_NAME_LENGTH_MAX) ?? ''
  )
  const named = names.filter(name => name !== '')
  if (new Set(named).size < named.length)
    cells.reject(first, 'option1Name', 'Two options of the product have the same name.')
  const given = rows.filter((row, index) => index === 0 || isVariant(row))
  if (given.length > VARIANTS_PER_PRODUCT_MAX)
    cells.reject(first, 'handle', `A product can have ${VARIANTS_PER_PRODUCT_MAX} variants.`)

  const read = given.slice(0, VARIANTS_PER_PRODUCT_MAX).map(row => ({
    row,
    values: SHOPIFY_CSV_OPTION_FIELDS.map(
      ([, field]) => cells.text(row, field, OPTION_VALUE_LENGTH_MAX) ?? ''
    )
  }))
  const isOnlyOne = read.every(({ values }) =>
    values.every(value => value === '' || value === SHOPIFY_DEFAULT_OPTION_VALUE)
  )
  const usable = isOnlyOne
    ? read.map(({ row }) => ({ row, values: SHOPIFY_CSV_OPTION_FIELDS.map(() => '') }))
    : read
  const isUsed = names.map((_, index) => usable.some(({ values }) => values[index] !== ''))
  const rowOfChoice = new Map<string, number>()
  const choices = usable.map(({ row, values }): ProductImportRowWithOptions => {
    const isWhole = hasValidValues(cells, row, { names, isUsed, values })
    const earlier = rowOfChoice.get(JSON.stringify(values))
    if (earlier !== undefined && isWhole)
      cells.reject(row, 'option1Value', `Row ${earlier} of the product has the same option values.`)
    rowOfChoice.set(JSON.stringify(values), earlier ?? row.row)
    const chosen = values.flatMap((value, index) =>
      value === '' ? [] : [[names[index] ?? '', value] as const]
    )
    return { row, attributes: Object.fromEntries(chosen) }
  })
  const options = names.flatMap((name, index): ProductOption[] => {
    const values = [...new Set(usable.map(({ values }) => values[index] ?? '').filter(value => value !== ''))]
    return values.length === 0 ? [] : [{ name, values }]
  })
  return { options, choices }
}

type Values = { names: string[]; isUsed: boolean[]; values: string[] }

/**
 * Whether the row has exactly one value for each option that the product uses. Collects a problem for each
 * other one.
 */
function hasValidValues(
  cells: ProductCsvCellReader,
  row: ProductImportRow,
  { names, isUsed, values }: Values
): boolean {
  const before = cells.problems.length
  for (const [index, [nameField, valueField]] of SHOPIFY_CSV_OPTION_FIELDS.entries()) {
    const value = values[index]
    if (value === SHOPIFY_DEFAULT_OPTION_VALUE) {
      cells.reject(
        row,
        valueField,
        `${SHOPIFY_DEFAULT_OPTION_VALUE} is for products without options; this one has other values.`
      )
    } else if (isUsed[index] && names[index] === '') {
      const nameless = `The first row of the product has no ${cells.headingOf(nameField)} for this value.`
      if (value !== '') cells.reject(row, valueField, nameless)
    } else if (isUsed[index] && value === '') {
      cells.reject(
        row,
        valueField,
        `This is missing: other variants have a value of the option ${names[index]}.`
      )
    }
  }
  return cells.problems.length === before
}

const isVariant = (row: ProductImportRow) =>
  (['price', 'sku', 'option1Value', 'option2Value', 'option3Value'] as const).some(
    field => (row.cell(field) ?? '').trim() !== ''
  )
