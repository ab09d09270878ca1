import { sumComponents } from './components.ts'
import { type ShippingFinding, type ShippingFindingCode, shippingFinding } from './findings.ts'
import type { QuoteGroup, QuoteInput, QuoteShippingOption } from './input.ts'
import { destinationOf, type LineTarget } from './targets.ts'

/** Shipping options of a group, cheapest first, the chosen one, and findings. */
export type QuotedDelivery<Option> = {
  readonly group: QuoteGroup
  readonly options: readonly Option[]
  readonly chosen: Option | undefined
  readonly findings: readonly ShippingFinding[]
}

/** Quotes the delivery of a group. `lines`: its lines with their prices after discounts. */
export function quoteDelivery<Option extends QuoteShippingOption>(
  group: QuoteGroup,
  lines: readonly LineTarget[],
  { market, rules }: QuoteInput<Option>
): QuotedDelivery<Option> {
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
      weightGrams: sumComponents(carried, ({ line }) => line.weightGrams * line.quantity),
      valueMinor: sumComponents(carried, target => target.leftMinor),
      items: sumComponents(carried, target => target.units)
    })
    .toSorted((a, b) => a.amountMinor - b.amountMinor || (a.id < b.id ? -1 : 1))
  if (options.length === 0) return withoutOptions(group, 'SHIPPING_NOT_AVAILABLE')
  const chosen = options.find(option => option.id === choice)
  const findings =
    choice === null || chosen !== undefined ? [] : [shippingFinding('SHIPPING_CHOICE_GONE', group.key)]
  return { group, options, chosen: chosen ?? options[0], findings }
}

const withoutOptions = (group: QuoteGroup, problem?: ShippingFindingCode): QuotedDelivery<never> => ({
  group,
  options: [],
  chosen: undefined,
  findings: problem === undefined ? [] : [shippingFinding(problem, group.key)]
})
