import type { Option } from '../products/repository.ts'
import { OPTION_NAME_LENGTH_MAX, OPTION_VALUE_LENGTH_MAX } from '../products/schema.ts'
import { VARIANTS_MAX } from '../variants/schema.ts'
import type { Cells } from './cells.ts'
import type { Row } from './rows.ts'

/** A row that is a variant, and the options by which a shopper chooses it. */
export type Choice = { row: Row; attributes: Record<string, string> }

export const OPTIONS = [
  ['option1Name', 'option1Value'],
  ['option2Name', 'option2Value'],
  ['option3Name', 'option3Value']
] as const
/** Shopify's option value of a product that is not sold in several variants; its option is called `Title`. */
export const ONLY_ONE = 'Default Title'

/**
 * The options of a product and its variants' values of them. Refused are variants that a shopper could not choose: one
 * without a value, with a value of no option, or with the values of another one.
 */
export function readChoices(cells: Cells, rows: readonly Row[], first: Row) {
  const names = OPTIONS.map(([field]) => cells.text(first, field, OPTION_NAME_LENGTH_MAX) ?? '')
  const named = names.filter(name => name !== '')
  if (new Set(named).size < named.length)
    cells.refuse(first, 'option1Name', 'Two options of the product have the same name.')
  const given = rows.filter((row, index) => index === 0 || isVariant(row))
  if (given.length > VARIANTS_MAX)
    cells.refuse(first, 'handle', `A product can have ${VARIANTS_MAX} variants.`)

  const read = given.slice(0, VARIANTS_MAX).map(row => ({
    row,
    values: OPTIONS.map(([, field]) => cells.text(row, field, OPTION_VALUE_LENGTH_MAX) ?? '')
  }))
  const isOnlyOne = read.every(({ values }) => values.every(value => value === '' || value === ONLY_ONE))
  const usable = isOnlyOne ? read.map(({ row }) => ({ row, values: OPTIONS.map(() => '') })) : read
  const isUsed = names.map((_, index) => usable.some(({ values }) => values[index] !== ''))
  const rowOfChoice = new Map<string, number>()
  const choices = usable.map(({ row, values }): Choice => {
    const isWhole = refuseValues(cells, row, { names, isUsed, values })
    const earlier = rowOfChoice.get(JSON.stringify(values))
    if (earlier !== undefined && isWhole)
      cells.refuse(row, 'option1Value', `Row ${earlier} of the product has the same option values.`)
    rowOfChoice.set(JSON.stringify(values), earlier ?? row.row)
    const chosen = values.flatMap((value, index) =>
      value === '' ? [] : [[names[index] ?? '', value] as const]
    )
    return { row, attributes: Object.fromEntries(chosen) }
  })
  const options = names.flatMap((name, index): Option[] => {
    const values = [...new Set(usable.map(({ values }) => values[index] ?? '').filter(value => value !== ''))]
    return values.length === 0 ? [] : [{ name, values }]
  })
  return { options, choices }
}

type Values = { names: string[]; isUsed: boolean[]; values: string[] }

/** Whether the row has one value of each option that the product uses, and no others. */
function refuseValues(cells: Cells, row: Row, { names, isUsed, values }: Values): boolean {
  const before = cells.problems.length
  for (const [index, [nameField, valueField]] of OPTIONS.entries()) {
    const value = values[index]
    if (value === ONLY_ONE) {
      cells.refuse(row, valueField, `${ONLY_ONE} is for products without options; this one has other values.`)
    } else if (isUsed[index] && names[index] === '') {
      const nameless = `The first row of the product has no ${cells.headingOf(nameField)} for this value.`
      if (value !== '') cells.refuse(row, valueField, nameless)
    } else if (isUsed[index] && value === '') {
      cells.refuse(
        row,
        valueField,
        `This is missing: other variants have a value of the option ${names[index]}.`
      )
    }
  }
  return cells.problems.length === before
}

const isVariant = (row: Row) =>
  (['price', 'sku', 'option1Value', 'option2Value', 'option3Value'] as const).some(
    field => (row.cell(field) ?? '').trim() !== ''
  )
