import type { PriceComponent } from './components.ts'
import type { QuoteLine, QuoteShippingOption, QuoteTaxExemption } from './input.ts'

/** Totals of a quote. `total = subtotal - discount + shipping + taxAdded + cashRounding`. */
export type QuoteTotals = {
  /** Lines before any discount. */
  readonly subtotalMinor: number
  /** Discount on lines, as a positive amount. */
  readonly discountMinor: number
  /** Shipping after its discounts. */
  readonly shippingMinor: number
  /** All tax, included in prices or not. */
  readonly taxMinor: number
  /** Tax on top of prices; negative for a buyer exempt from included tax. */
  readonly taxAddedMinor: number
  readonly cashRoundingMinor: number
  readonly totalMinor: number
}

/** Amounts of one line. */
export type QuotedLine = Pick<QuoteLine, 'key' | 'variantId' | 'quantity' | 'group'> &
  Pick<QuoteTotals, 'subtotalMinor' | 'discountMinor' | 'taxMinor' | 'taxAddedMinor'> & {
    /** Without `taxAdded`. */
    readonly totalMinor: number
  }

/** Amounts of the delivery of one group. */
export type QuotedDeliveryGroup<Option extends QuoteShippingOption = QuoteShippingOption> = Pick<
  QuoteTotals,
  'shippingMinor' | 'taxMinor' | 'taxAddedMinor'
> & {
  readonly key: string
  /** Discount on shipping, as a positive amount. */
  readonly shippingDiscountMinor: number
  /** The cheapest first. */
  readonly options: readonly Option[]
  /** Id of the shipping option that was quoted; null when no option is needed or offered. */
  readonly option: string | null
}

/** Sums of components by kind, and of the payable ones. */
function sumsOf(components: readonly PriceComponent[] = []) {
  const sums = { item: 0, discount: 0, shipping: 0, shipping_discount: 0, tax: 0, cash_rounding: 0 }
  let [taxAdded, total] = [0, 0]
  for (const { kind, amountMinor, included } of components) {
    sums[kind] += amountMinor
    if (included) continue
    total += amountMinor
    if (kind === 'tax') taxAdded += amountMinor
  }
  return { ...sums, taxAdded, total }
}

export function quoteTotalsOf(components: readonly PriceComponent[]): QuoteTotals {
  const sums = sumsOf(components)
  return {
    subtotalMinor: sums.item,
    discountMinor: 0 - sums.discount,
    shippingMinor: sums.shipping + sums.shipping_discount,
    taxMinor: sums.tax,
    taxAddedMinor: sums.taxAdded,
    cashRoundingMinor: sums.cash_rounding,
    totalMinor: sums.total
  }
}

export function quotedLineOf(
  { key, variantId, quantity, group }: QuoteLine,
  components: readonly PriceComponent[] | undefined
): QuotedLine {
  const sums = sumsOf(components)
  return {
    key,
    variantId,
    quantity,
    group,
    subtotalMinor: sums.item,
    discountMinor: 0 - sums.discount,
    totalMinor: sums.item + sums.discount,
    taxMinor: sums.tax,
    taxAddedMinor: sums.taxAdded
  }
}

/** Adds up the components of a delivery group. `given`: key and options of the group. */
export function quotedDeliveryGroupOf<Option extends QuoteShippingOption>(
  given: Pick<QuotedDeliveryGroup<Option>, 'key' | 'options' | 'option'>,
  components: readonly PriceComponent[] | undefined
): QuotedDeliveryGroup<Option> {
  const sums = sumsOf(components)
  return {
    ...given,
    shippingMinor: sums.shipping + sums.shipping_discount,
    shippingDiscountMinor: 0 - sums.shipping_discount,
    taxMinor: sums.tax,
    taxAddedMinor: sums.taxAdded
  }
}

/** Tax of one category, rate and exemption. */
export type TaxSubtotal = {
  readonly taxCategory: string
  readonly ratePpm: number
  readonly netMinor: number
  readonly taxMinor: number
  readonly grossMinor: number
  /** The exemption, when no tax is paid. */
  readonly exempt?: QuoteTaxExemption
}

export function taxSubtotalsOf(components: readonly PriceComponent[]): TaxSubtotal[] {
  const summaries = new Map<string, TaxSubtotal>()
  for (const { kind, taxCategory, ratePpm, baseMinor = 0, amountMinor, exempt } of components) {
    if (kind !== 'tax' || taxCategory === undefined || ratePpm === undefined) continue
    const key = `${ratePpm} ${taxCategory} ${exempt?.id ?? ''}`
    const before = summaries.get(key)
    const netMinor = (before?.netMinor ?? 0) + baseMinor
    const taxMinor = (before?.taxMinor ?? 0) + amountMinor
    const reason = exempt === undefined ? {} : { exempt }
    summaries.set(key, {
      taxCategory,
      ratePpm,
      netMinor,
      taxMinor,
      grossMinor: netMinor + taxMinor,
      ...reason
    })
  }
  return [...summaries.values()]
}
