import { sumOf } from './components.ts'
import { type ShippingFinding, type ShippingProblem, shippingFinding } from './findings.ts'
import type { QuoteGroup, QuoteInput, ShippingOption } from './input.ts'
import { destinationOf, type LineTarget } from './targets.ts'

/** How a group can be delivered, the cheapest first, and how it is; `findings` say what stands against it. */
export type Delivery<Option> = {
  readonly group: QuoteGroup
  readonly options: readonly Option[]
  readonly chosen: Option | undefined
  readonly findings: readonly ShippingFinding[]
}

/** `lines` are those of the group, with what they cost after discounts. */
export function deliver<Option extends ShippingOption>(
  group: QuoteGroup,
  lines: readonly LineTarget[],
  { market, rules }: QuoteInput<Option>
): Delivery<Option> {
  const carried = lines.filter(({ line }) => line.requiresShipping)
  const { method, choice } = group
  const destination = destinationOf(group)
  if (method === 'digital' || carried.length === 0) return withoutOptions(group)
  if (method === 'shipping' && destination === null)
    return withoutOptions(group, 'SHIPPING_DESTINATION_MISSING')
  const options = rules
    .ratesOf({
      method,
      destination,
      currency: market.currency,
      weightGrams: sumOf(carried, ({ line }) => line.weightGrams * line.quantity),
      valueMinor: sumOf(carried, target => target.leftMinor),
      items: sumOf(carried, target => target.units)
    })
    .toSorted((a, b) => a.amountMinor - b.amountMinor || (a.id < b.id ? -1 : 1))
  if (options.length === 0) return withoutOptions(group, 'SHIPPING_NOT_AVAILABLE')
  const chosen = options.find(option => option.id === choice)
  const findings =
    choice === null || chosen !== undefined ? [] : [shippingFinding('SHIPPING_CHOICE_GONE', group.key)]
  return { group, options, chosen: chosen ?? options[0], findings }
}

const withoutOptions = (group: QuoteGroup, problem?: ShippingProblem): Delivery<never> => ({
  group,
  options: [],
  chosen: undefined,
  findings: problem === undefined ? [] : [shippingFinding(problem, group.key)]
})
