import { fractionOf } from '../../../kernel/money.ts'
import type { Component } from './components.ts'
import { type Delivery, deliver } from './deliveries.ts'
import type { Finding } from './findings.ts'
import { hashOf } from './hash.ts'
import type { QuoteGroup, QuoteInput, QuoteLine, ShippingOption } from './input.ts'
import { checkLimits } from './limits.ts'
import { openPromotions, type Redemption } from './promotions.ts'
import { type LineTarget, targetOfDelivery, targetOfLine } from './targets.ts'
import { taxOf } from './tax.ts'
import * as totals from './totals.ts'

/** What a basket costs, and why. Lines and groups are in the order of their keys. */
export type Quote<Option extends ShippingOption = ShippingOption> = {
  readonly currency: string
  readonly lines: readonly (totals.LineTotals & { readonly key: string })[]
  readonly groups: readonly QuotedGroup<Option>[]
  readonly components: readonly Component[]
  readonly totals: totals.Totals
  readonly taxSummary: readonly totals.TaxSummary[]
  readonly findings: readonly Finding[]
  readonly redemptions: readonly Redemption[]
  /** Quotes that cost the same have the same. */
  readonly hash: string
}
type QuotedGroup<Option> = totals.DeliveryTotals & {
  readonly key: string
  /** The cheapest first. */
  readonly options: readonly Option[]
  /** The id of the one that is quoted; null where nothing is delivered, or nothing can be. */
  readonly option: string | null
}

/**
 * The price of a basket, which cart, checkout and order compute alike. Pure: the same input gives the same quote, in whatever
 * order lines, groups, codes and promotions come.
 * @throws `PRICING_QUOTE_TOO_LARGE`
 */
export function quote<Option extends ShippingOption>(input: QuoteInput<Option>): Quote<Option> {
  checkLimits(input)
  const { market } = input
  const lines = byKey(input.lines)
  const groups = byKey(input.groups)
  const targets = targetsOf(lines, groups)
  const promotions = openPromotions(input, targets)
  const components = targets.flatMap(({ line }) => pricesOf(line))
  components.push(...promotions.takeLine(), ...promotions.takeOrder())

  const linesOf = Map.groupBy(targets, target => target.group)
  const deliveries = groups.map(group => deliver(group, linesOf.get(group) ?? [], input))
  const carried = deliveries.flatMap(({ group, chosen }) =>
    chosen === undefined ? [] : [targetOfDelivery(group, chosen)]
  )
  for (const { of, option, fullMinor } of carried)
    components.push({ kind: 'shipping', ...of, option: option.id, amountMinor: fullMinor, included: false })
  const findings = deliveries.flatMap(delivery => delivery.findings)
  const isUnknown = findings.some(({ code }) => code === 'SHIPPING_DESTINATION_MISSING')
  components.push(
    ...promotions.takeShipping(carried, isUnknown ? 'CODE_NEEDS_DESTINATION' : 'CODE_NO_EFFECT')
  )

  components.push(...taxOf([...targets, ...carried], input))
  components.push(...cashRoundingOf(components, market.cashRoundingMinor))
  return {
    currency: market.currency,
    ...shown(lines, deliveries, components),
    components,
    totals: totals.totalsOf(components),
    taxSummary: totals.taxSummaryOf(components),
    findings: [...findings, ...promotions.findings()],
    redemptions: promotions.redemptions(),
    hash: hashOf(market.currency, lines, components)
  }
}

/** @throws Error for two with the same key, which nothing could tell apart. */
function byKey<T extends { readonly key: string }>(list: readonly T[]): T[] {
  const sorted = list.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const twice = sorted.find((each, index) => each.key === sorted[index + 1]?.key)
  if (twice !== undefined) throw new Error(`The key ${twice.key} stands twice in a quote`)
  return sorted
}

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
function cashRoundingOf(components: readonly Component[], stepMinor: number): Component[] {
  const { totalMinor } = totals.totalsOf(components)
  const amountMinor = fractionOf(totalMinor, 1, stepMinor) * stepMinor - totalMinor
  return amountMinor === 0 ? [] : [{ kind: 'cash_rounding', amountMinor, included: false }]
}

function shown<Option extends ShippingOption>(
  lines: readonly QuoteLine[],
  deliveries: readonly Delivery<Option>[],
  components: readonly Component[]
) {
  const ofLine = Map.groupBy(components, component => component.line)
  const ofGroup = Map.groupBy(components, component => component.group)
  return {
    lines: lines.map(({ key }) => ({ key, ...totals.lineTotalsOf(ofLine.get(key) ?? []) })),
    groups: deliveries.map(({ group: { key }, options, chosen }) => {
      const amounts = totals.deliveryTotalsOf(ofGroup.get(key) ?? [])
      return { key, ...amounts, options, option: chosen?.id ?? null }
    })
  }
}
