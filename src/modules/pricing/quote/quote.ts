import { multiplyFractionRounded } from '../../../kernel/money.ts'
import { type PriceComponent, sumPayableComponents } from './components.ts'
import { quoteDelivery } from './deliveries.ts'
import type { QuoteFinding } from './findings.ts'
import { hashQuote } from './hash.ts'
import type { QuoteDeliveryGroup, QuoteInput, QuoteLine, QuoteShippingOption } from './input.ts'
import { createPromotionApplier, type PromotionRedemption } from './promotions.ts'
import { assertQuoteWithinSizeLimits } from './size-limits.ts'
import { createDiscountTargetDelivery, createDiscountTargetLine, type DiscountTargetLine } from './targets.ts'
import { computeTaxComponents } from './tax.ts'
import { type TaxableComponent, taxableComponentsOf } from './taxable-components.ts'
import {
  type QuotedDeliveryGroup,
  type QuotedLine,
  type QuoteTotals,
  quotedDeliveryGroupOf,
  quotedLineOf,
  quoteTotalsOf,
  type TaxSubtotal,
  taxSubtotalsOf
} from './totals.ts'
import { mergeEqualQuoteLines, splitPriceComponentsAmongLines } from './variant-lines.ts'

/** The price of a basket. Lines and groups are in key order. */
export type Quote<Option extends QuoteShippingOption = QuoteShippingOption> = {
  readonly currency: string
  readonly lines: readonly QuotedLine[]
  readonly groups: readonly QuotedDeliveryGroup<Option>[]
  readonly components: readonly PriceComponent[]
  readonly totals: QuoteTotals
  readonly taxSummary: readonly TaxSubtotal[]
  readonly findings: readonly QuoteFinding[]
  readonly redemptions: readonly PromotionRedemption[]
  /** Equal for quotes with the same cost. */
  readonly hash: string
}

/**
 * Computes the price of a basket for carts, checkouts and orders alike. Pure: the result does not depend on the
 * order of lines, groups, codes or promotions. Everything is computed and rounded for the sum of the lines of a
 * variant and then split among them. So splitting a quantity into lines changes no total. @throws
 * `PRICING_QUOTE_TOO_LARGE`
 */
export function computeQuote<Option extends QuoteShippingOption>(input: QuoteInput<Option>): Quote<Option> {
  const { currency, cashRoundingMinor } = input.market
  const { lines, merged, sums, deliveries, findings, promotions, untaxed, taxed } = priceBeforeTax(input)
  const priced = [...untaxed, ...computeTaxComponents(taxed, input)]
  const unsplit = [...priced, ...cashRoundingOf(sumPayableComponents(priced), cashRoundingMinor)]
  const components = splitPriceComponentsAmongLines(unsplit, merged)
  const ofSum = Map.groupBy(unsplit, component => component.line)
  const ofLine = components === unsplit ? ofSum : Map.groupBy(components, component => component.line)
  const ofGroup = Map.groupBy(unsplit, component => component.group)
  const shown = {
    currency,
    groups: deliveries.map(({ group: { key }, options, chosen }) =>
      quotedDeliveryGroupOf({ key, options, option: chosen?.id ?? null }, ofGroup.get(key))
    ),
    totals: quoteTotalsOf(unsplit)
  }
  return {
    ...shown,
    lines: lines.map(line => quotedLineOf(line, ofLine.get(line.key))),
    components,
    taxSummary: taxSubtotalsOf(unsplit),
    findings: [...findings, ...promotions.findings()],
    redemptions: promotions.redemptions(),
    hash: hashQuote({
      ...shown,
      lines: sums.map(sum => quotedLineOf(sum, ofSum.get(sum.key))),
      market: input.market
    })
  }
}

/**
 * Lists what a tax engine is asked for the taxes of. Pure. Like the quote, it does not depend on the order of lines or on
 * how a quantity is split into lines.
 */
export const listTaxableComponents = (input: QuoteInput): TaxableComponent[] =>
  taxableComponentsOf(priceBeforeTax(input).taxed, input.market)

/** Prices, discounts and deliveries, and what is taxed. @throws `PRICING_QUOTE_TOO_LARGE` */
function priceBeforeTax<Option extends QuoteShippingOption>(input: QuoteInput<Option>) {
  assertQuoteWithinSizeLimits(input)
  const [lines, groups] = [byKey(input.lines), byKey(input.groups)]
  const merged = mergeEqualQuoteLines(lines)
  const sums = merged.map(({ sum }) => sum)
  const targets = targetsOf(sums, groups)
  const promotions = createPromotionApplier(input, targets)
  const discounts = [...promotions.applyLinePromotions(), ...promotions.applyOrderPromotions()]

  const targetsOfGroup = Map.groupBy(targets, target => target.group)
  const deliveries = groups.map(group => quoteDelivery(group, targetsOfGroup.get(group) ?? [], input))
  const carried = deliveries.flatMap(({ group, chosen, options }) =>
    chosen ? [createDiscountTargetDelivery(group, chosen, options)] : []
  )
  const findings = deliveries.flatMap(delivery => delivery.findings)
  const isUnknown = findings.some(({ code }) => code === 'SHIPPING_DESTINATION_MISSING')
  const noEffect = isUnknown ? 'CODE_NEEDS_DESTINATION' : 'CODE_NO_EFFECT'

  const untaxed: PriceComponent[] = [
    ...sums.flatMap(pricesOf),
    ...discounts,
    ...carried.map(({ key: of, option, fullMinor }): PriceComponent => {
      return { kind: 'shipping', ...of, option: option.id, amountMinor: fullMinor, included: false }
    }),
    ...promotions.applyShippingPromotions(carried, noEffect)
  ]
  const taxed = [...targets, ...carried]
  return { lines, merged, sums, deliveries, findings, promotions, untaxed, taxed }
}

/** Sorts by key. @throws Error for a duplicate key */
function byKey<T extends { readonly key: string }>(list: readonly T[]): T[] {
  const sorted = list.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const twice = sorted.find((each, index) => each.key === sorted[index + 1]?.key)
  if (twice !== undefined) throw new Error(`The quote has the key ${twice.key} twice`)
  return sorted
}

/** Creates the targets of lines. @throws Error for a line of an unknown group */
function targetsOf(lines: readonly QuoteLine[], groups: readonly QuoteDeliveryGroup[]): DiscountTargetLine[] {
  const groupOf = new Map(groups.map(group => [group.key, group]))
  return lines.map(line => {
    const group = groupOf.get(line.group)
    if (group === undefined) throw new Error(`The line ${line.key} belongs to no group of the quote`)
    return createDiscountTargetLine(line, group)
  })
}

function pricesOf({ key, quantity, priceMinor, discountedPriceMinor }: QuoteLine): PriceComponent[] {
  const item: PriceComponent = {
    kind: 'item',
    line: key,
    amountMinor: priceMinor * quantity,
    included: false
  }
  const off = (priceMinor - discountedPriceMinor) * quantity
  return off === 0 ? [item] : [item, { kind: 'discount', line: key, amountMinor: -off, included: false }]
}

/** Rounds the total to the nearest payable amount, half up. */
function cashRoundingOf(totalMinor: number, stepMinor: number): PriceComponent[] {
  const amountMinor = multiplyFractionRounded(totalMinor, 1, stepMinor) * stepMinor - totalMinor
  return amountMinor === 0 ? [] : [{ kind: 'cash_rounding', amountMinor, included: false }]
}
