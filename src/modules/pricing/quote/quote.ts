import { fractionOf } from '../../../kernel/money.ts'
import { type Component, payableOf } from './components.ts'
import { deliver } from './deliveries.ts'
import type { Finding } from './findings.ts'
import { hashOf } from './hash.ts'
import type { QuoteGroup, QuoteInput, QuoteLine, ShippingOption } from './input.ts'
import { checkLimits } from './limits.ts'
import { openPromotions, type Redemption } from './promotions.ts'
import { type LineTarget, targetOfDelivery, targetOfLine } from './targets.ts'
import { taxOf } from './tax.ts'
import {
  type QuotedGroup,
  type QuotedLine,
  quotedGroupOf,
  quotedLineOf,
  type TaxSummary,
  type Totals,
  taxSummaryOf,
  totalsOf
} from './totals.ts'

/** What a basket costs, and why. Lines and groups are in the order of their keys. */
export type Quote<Option extends ShippingOption = ShippingOption> = {
  readonly currency: string
  readonly lines: readonly QuotedLine[]
  readonly groups: readonly QuotedGroup<Option>[]
  readonly components: readonly Component[]
  readonly totals: Totals
  readonly taxSummary: readonly TaxSummary[]
  readonly findings: readonly Finding[]
  readonly redemptions: readonly Redemption[]
  /** Quotes that cost the same have the same. */
  readonly hash: string
}

/**
 * The price of a basket, which cart, checkout and order compute alike. Pure: the same input gives the same quote, in whatever
 * order lines, groups, codes and promotions come.
 * @throws `PRICING_QUOTE_TOO_LARGE`
 */
export function quote<Option extends ShippingOption>(input: QuoteInput<Option>): Quote<Option> {
  checkLimits(input)
  const { currency, cashRoundingMinor } = input.market
  const [lines, groups] = [byKey(input.lines), byKey(input.groups)]
  const targets = targetsOf(lines, groups)
  const promotions = openPromotions(input, targets)
  const discounts = [...promotions.takeLine(), ...promotions.takeOrder()]

  const targetsOfGroup = Map.groupBy(targets, target => target.group)
  const deliveries = groups.map(group => deliver(group, targetsOfGroup.get(group) ?? [], input))
  const carried = deliveries.flatMap(({ group, chosen, options }) =>
    chosen ? [targetOfDelivery(group, chosen, options)] : []
  )
  const findings = deliveries.flatMap(delivery => delivery.findings)
  const isUnknown = findings.some(({ code }) => code === 'SHIPPING_DESTINATION_MISSING')
  const noEffect = isUnknown ? 'CODE_NEEDS_DESTINATION' : 'CODE_NO_EFFECT'

  const priced: Component[] = [
    ...lines.flatMap(pricesOf),
    ...discounts,
    ...carried.map(({ of, option, fullMinor }): Component => {
      return { kind: 'shipping', ...of, option: option.id, amountMinor: fullMinor, included: false }
    }),
    ...promotions.takeShipping(carried, noEffect),
    ...taxOf([...targets, ...carried], input)
  ]
  const components = [...priced, ...cashRoundingOf(payableOf(priced), cashRoundingMinor)]
  const ofLine = Map.groupBy(components, component => component.line)
  const ofGroup = Map.groupBy(components, component => component.group)
  const shown = {
    currency,
    lines: lines.map(line => quotedLineOf(line, ofLine.get(line.key))),
    groups: deliveries.map(({ group: { key }, options, chosen }) =>
      quotedGroupOf({ key, options, option: chosen?.id ?? null }, ofGroup.get(key))
    ),
    totals: totalsOf(components)
  }
  return {
    ...shown,
    components,
    taxSummary: taxSummaryOf(components),
    findings: [...findings, ...promotions.findings()],
    redemptions: promotions.redemptions(),
    hash: hashOf({ ...shown, market: input.market })
  }
}

/** @throws Error for two with the same key, which nothing could tell apart. */
function byKey<T extends { readonly key: string }>(list: readonly T[]): T[] {
  const sorted = list.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const twice = sorted.find((each, index) => each.key === sorted[index + 1]?.key)
  if (twice !== undefined) throw new Error(`The key ${twice.key} stands twice in a quote`)
  return sorted
}

/** @throws Error for a line of a group that is not there. */
function targetsOf(lines: readonly QuoteLine[], groups: readonly QuoteGroup[]): LineTarget[] {
  const groupOf = new Map(groups.map(group => [group.key, group]))
  return lines.map(line => {
    const group = groupOf.get(line.group)
    if (group === undefined) throw new Error(`The line ${line.key} belongs to no group of the quote`)
    return targetOfLine(line, group)
  })
}

function pricesOf({ key, quantity, priceMinor, discountedPriceMinor }: QuoteLine): Component[] {
  const item: Component = { kind: 'item', line: key, amountMinor: priceMinor * quantity, included: false }
  const off = (priceMinor - discountedPriceMinor) * quantity
  return off === 0 ? [item] : [item, { kind: 'discount', line: key, amountMinor: -off, included: false }]
}

/** To the nearest amount that can be paid; half way, up. */
function cashRoundingOf(totalMinor: number, stepMinor: number): Component[] {
  const amountMinor = fractionOf(totalMinor, 1, stepMinor) * stepMinor - totalMinor
  return amountMinor === 0 ? [] : [{ kind: 'cash_rounding', amountMinor, included: false }]
}
