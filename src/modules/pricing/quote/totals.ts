import { amountOf, type Component } from './components.ts'

type Kind = Component['kind']

/** What a buyer is shown. `total = subtotal - discount + shipping + taxAdded + cashRounding`. */
export type Totals = {
  /** Lines before any discount. */
  readonly subtotalMinor: number
  /** What is taken off lines, as a positive amount. */
  readonly discountMinor: number
  /** After discounts. */
  readonly shippingMinor: number
  /** All tax that is paid, whether prices include it or not. */
  readonly taxMinor: number
  /** What of it is paid beside the prices; below zero where a buyer is exempt from tax that the prices include. */
  readonly taxAddedMinor: number
  readonly cashRoundingMinor: number
  readonly totalMinor: number
}

/** What of it belongs to one line. */
export type LineTotals = Pick<Totals, 'subtotalMinor' | 'discountMinor' | 'taxMinor'> & {
  /** Without tax that is paid beside the price. */
  readonly totalMinor: number
}
/** What of it belongs to the delivery of one group. */
export type DeliveryTotals = Pick<Totals, 'shippingMinor' | 'taxMinor'> & {
  /** What is taken off shipping, as a positive amount. */
  readonly shippingDiscountMinor: number
}

const sumOfKinds = (components: readonly Component[], ...kinds: Kind[]): number =>
  amountOf(components.filter(each => kinds.includes(each.kind)))

export function totalsOf(components: readonly Component[]): Totals {
  const payable = components.filter(each => !each.included)
  return {
    subtotalMinor: sumOfKinds(components, 'item'),
    discountMinor: 0 - sumOfKinds(components, 'discount'),
    shippingMinor: sumOfKinds(components, 'shipping', 'shipping_discount'),
    taxMinor: sumOfKinds(components, 'tax'),
    taxAddedMinor: sumOfKinds(payable, 'tax'),
    cashRoundingMinor: sumOfKinds(components, 'cash_rounding'),
    totalMinor: amountOf(payable)
  }
}

export const lineTotalsOf = (components: readonly Component[]): LineTotals => ({
  subtotalMinor: sumOfKinds(components, 'item'),
  discountMinor: 0 - sumOfKinds(components, 'discount'),
  taxMinor: sumOfKinds(components, 'tax'),
  totalMinor: sumOfKinds(components, 'item', 'discount')
})

export const deliveryTotalsOf = (components: readonly Component[]): DeliveryTotals => ({
  shippingMinor: sumOfKinds(components, 'shipping', 'shipping_discount'),
  shippingDiscountMinor: 0 - sumOfKinds(components, 'shipping_discount'),
  taxMinor: sumOfKinds(components, 'tax')
})

/** What is taxed alike. */
export type TaxSummary = {
  readonly taxCategory: string
  readonly ratePpm: number
  readonly netMinor: number
  readonly taxMinor: number
  readonly grossMinor: number
  /** Why no tax is paid. */
  readonly exempt?: string
}

export function taxSummaryOf(components: readonly Component[]): TaxSummary[] {
  const summaries = new Map<string, TaxSummary>()
  for (const { kind, taxCategory, ratePpm, baseMinor = 0, amountMinor, exempt } of components) {
    if (kind !== 'tax' || taxCategory === undefined || ratePpm === undefined) continue
    const key = `${ratePpm} ${taxCategory}`
    const { netMinor = 0, taxMinor = 0 } = summaries.get(key) ?? {}
    const [net, tax] = [netMinor + baseMinor, taxMinor + amountMinor]
    const reason = exempt === undefined ? {} : { exempt }
    summaries.set(key, {
      taxCategory,
      ratePpm,
      netMinor: net,
      taxMinor: tax,
      grossMinor: net + tax,
      ...reason
    })
  }
  return [...summaries.values()]
}
