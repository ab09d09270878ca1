import { sumBy } from '../../../kernel/sum-by.ts'
import {
  createShippingFinding,
  type QuoteShippingFinding,
  type QuoteShippingFindingCode
} from './findings.ts'
import type { QuoteDeliveryGroup, QuoteInput, QuoteShippingOption } from './input.ts'
import { type DiscountTargetLine, destinationOfDeliveryGroup } from './targets.ts'

/** Shipping options of a group, cheapest first, the chosen one, and findings. */
export type QuotedDeliveryOptions<Option> = {
  readonly group: QuoteDeliveryGroup
  readonly options: readonly Option[]
  readonly chosen: Option | undefined
  readonly findings: readonly QuoteShippingFinding[]
}

/** Quotes the delivery of a group. `lines`: its lines with their prices after discounts. */
export function quoteDelivery<Option extends QuoteShippingOption>(
  group: QuoteDeliveryGroup,
  lines: readonly DiscountTargetLine[],
  { market, rules }: QuoteInput<Option>
): QuotedDeliveryOptions<Option> {
  const carried = lines.filter(({ line }) => line.requiresShipping)
  const { method, choice } = group
  const destination = destinationOfDeliveryGroup(group)
  if (method === 'digital' || carried.length === 0) return withoutOptions(group)
  if (method === 'shipping' && destination === null)
    return withoutOptions(group, 'SHIPPING_DESTINATION_MISSING')
  const options = rules
    .ratesOf({
      method,
      destination,
      currency: market.currency,
      weightGrams: sumBy(carried, ({ line }) => line.weightGrams * line.quantity),
      valueMinor: sumBy(carried, target => target.leftMinor),
      items: sumBy(carried, target => target.units)
    })
    .toSorted((a, b) => a.amountMinor - b.amountMinor || (a.id < b.id ? -1 : 1))
  if (options.length === 0) return withoutOptions(group, 'SHIPPING_NOT_AVAILABLE')
  const chosen = options.find(option => option.id === choice)
  const findings =
    choice === null || chosen !== undefined ? [] : [createShippingFinding('SHIPPING_CHOICE_GONE', group.key)]
  return { group, options, chosen: chosen ?? options[0], findings }
}

const withoutOptions = (
  group: QuoteDeliveryGroup,
  problem?: QuoteShippingFindingCode
): QuotedDeliveryOptions<never> => ({
  group,
  options: [],
  chosen: undefined,
  findings: problem === undefined ? [] : [createShippingFinding(problem, group.key)]
})
