import { escapeJsonPointer, type FieldFault } from '../../../kernel/faults.ts'
import type { ProductOption } from '../products/repository.ts'
import type { VariantRow } from './repository.ts'

type ChoosableVariant = Pick<
  VariantRow,
  'sku' | 'attributes' | 'currency' | 'active' | 'price_minor' | 'sale_price_minor'
>
type Quantities = Pick<VariantRow, 'quantity_min' | 'quantity_max' | 'quantity_step'>
/** A variant and its path in the request. Existing variants have no `path`. */
export type VariantWithRequestPath = { path?: string; variant: ChoosableVariant }

/** Returns the faults that prevent a customer from selecting each active variant by its option values. */
export function variantOptionFaults(
  options: readonly ProductOption[],
  placed: readonly VariantWithRequestPath[]
): FieldFault[] {
  const taken = new Set<string>()
  return placed.flatMap(({ path = '', variant: { attributes, currency, active } }) => {
    if (!active) return []
    const faults = options.flatMap(({ name, values }) => {
      const value = chosenValue(attributes, name)
      if (value === undefined)
        return [{ path: `${path}/attributes`, message: `must have a value for the option ${name}` }]
      if (values.includes(value)) return []
      const message = `must be one of the product's values of the option ${name}`
      return [{ path: `${path}/attributes/${escapeJsonPointer(name)}`, message }]
    })
    const key = JSON.stringify([currency, choiceOf(attributes, options)])
    if (taken.has(key))
      faults.push({ path: `${path}/attributes`, message: 'must not be those of another variant' })
    taken.add(key)
    return faults
  })
}

/** Returns the values that distinguish a variant: those of the options, or all attributes without options. */
const choiceOf = (attributes: Record<string, string>, options: readonly ProductOption[]) =>
  options.length === 0
    ? Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))
    : options.map(({ name }) => chosenValue(attributes, name))

export const variantPriceFaults = ({ path = '', variant }: VariantWithRequestPath): FieldFault[] =>
  (variant.sale_price_minor ?? 0) > variant.price_minor
    ? [{ path: `${path}/sale_price`, message: 'must not be above the price' }]
    : []

/**
 * Returns the faults of quantity limits: minimum and maximum are multiples of the step, and minimum <=
 * maximum.
 */
export function variantQuantityLimitFaults({
  path,
  variant
}: {
  path: string
  variant: Quantities
}): FieldFault[] {
  const { quantity_min: min, quantity_max: max, quantity_step: step } = variant
  const faults: FieldFault[] = []
  if (min % step !== 0)
    faults.push({ path: `${path}/quantity_min`, message: `must be a multiple of ${step}` })
  if (max !== null && max % step !== 0)
    faults.push({ path: `${path}/quantity_max`, message: `must be a multiple of ${step}` })
  if (max !== null && max < min)
    faults.push({ path: `${path}/quantity_max`, message: 'must not be below the minimum' })
  return faults
}

/** Returns a fault for each option with the name of an earlier one. */
export const duplicateProductOptionFaults = (options: readonly ProductOption[]): FieldFault[] =>
  options.flatMap(({ name }, index) =>
    options.findIndex(option => option.name === name) < index
      ? [{ path: `body/options/${index}/name`, message: 'must not be that of another option' }]
      : []
  )

const chosenValue = (attributes: Record<string, string>, name: string) =>
  Object.hasOwn(attributes, name) ? attributes[name] : undefined
