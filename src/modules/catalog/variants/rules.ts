import { escapePointer, type Fault } from '../../../kernel/faults.ts'
import type { Option } from '../products/repository.ts'
import type { VariantRow } from './repository.ts'

type Offered = Pick<
  VariantRow,
  'sku' | 'attributes' | 'currency' | 'active' | 'price_minor' | 'sale_price_minor'
>
type Quantities = Pick<VariantRow, 'quantity_min' | 'quantity_max' | 'quantity_step'>
/** A variant, and where in the request it stands; without a `path` it is one that was there before. */
export type Placed = { path?: string; variant: Offered }

/** Why a shopper could not choose some of these active variants of one product: each by its own values of the options. */
export function choiceFaults(options: readonly Option[], placed: readonly Placed[]): Fault[] {
  const taken = new Set<string>()
  return placed.flatMap(({ path = '', variant: { attributes, currency, active } }) => {
    if (!active) return []
    const faults = options.flatMap(({ name, values }) => {
      const value = chosenValue(attributes, name)
      if (value === undefined)
        return [{ path: `${path}/attributes`, message: `must have a value for the option ${name}` }]
      if (values.includes(value)) return []
      const message = `must be one of the product's values of the option ${name}`
      return [{ path: `${path}/attributes/${escapePointer(name)}`, message }]
    })
    const key = JSON.stringify([currency, choiceOf(attributes, options)])
    if (taken.has(key))
      faults.push({ path: `${path}/attributes`, message: 'must not be those of another variant' })
    taken.add(key)
    return faults
  })
}

/** Without options it is all the attributes that tell variants apart. */
const choiceOf = (attributes: Record<string, string>, options: readonly Option[]) =>
  options.length === 0
    ? Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))
    : options.map(({ name }) => chosenValue(attributes, name))

export const priceFaults = ({ path = '', variant }: Placed): Fault[] =>
  (variant.sale_price_minor ?? 0) > variant.price_minor
    ? [{ path: `${path}/sale_price`, message: 'must not be above the price' }]
    : []

/** Minimum and maximum are quantities that can be bought: multiples of the step, and the maximum not the smaller. */
export function quantityFaults({ path, variant }: { path: string; variant: Quantities }): Fault[] {
  const { quantity_min: min, quantity_max: max, quantity_step: step } = variant
  const faults: Fault[] = []
  if (min % step !== 0)
    faults.push({ path: `${path}/quantity_min`, message: `must be a multiple of ${step}` })
  if (max !== null && max % step !== 0)
    faults.push({ path: `${path}/quantity_max`, message: `must be a multiple of ${step}` })
  if (max !== null && max < min)
    faults.push({ path: `${path}/quantity_max`, message: 'must not be below the minimum' })
  return faults
}

/** Two options of one name could not be told apart. */
export const optionFaults = (options: readonly Option[]): Fault[] =>
  options.flatMap(({ name }, index) =>
    options.findIndex(option => option.name === name) < index
      ? [{ path: `body/options/${index}/name`, message: 'must not be that of another option' }]
      : []
  )

const chosenValue = (attributes: Record<string, string>, name: string) =>
  Object.hasOwn(attributes, name) ? attributes[name] : undefined
