import type { Component } from './components.ts'
import type { Exemption, QuoteLine, ShippingOption } from './input.ts'

/** What a buyer is shown. `total = subtotal - discount + shipping + taxAdded + cashRounding`. */
export type Totals = {
  /** Lines before any discount. */
  readonly subtotalMinor: number
  /** What is taken off lines, as a positive amount. */
  readonly discountMinor: number
  /** After what is taken off it. */
  readonly shippingMinor: number
  /** All tax that is paid, whether prices include it or not. */
  readonly taxMinor: number
  /** What of it is paid beside the prices; below zero where a buyer is exempt from tax that the prices include. */
  readonly taxAddedMinor: number
  readonly cashRoundingMinor: number
  readonly totalMinor: number
}

/** The part of one line. */
export type QuotedLine = Pick<QuoteLine, 'key' | 'variantId' | 'quantity' | 'group'> &
  Pick<Totals, 'subtotalMinor' | 'discountMinor' | 'taxMinor' | 'taxAddedMinor'> & {
    /** Without `taxAdded`. */
    readonly totalMinor: number
  }

/** The part of the delivery of one group. */
export type QuotedGroup<Option extends ShippingOption = ShippingOption> = Pick<
  Totals,
  'shippingMinor' | 'taxMinor' | 'taxAddedMinor'
> & {
  readonly key: string
  /** What is taken off shipping, as a positive amount. */
  readonly shippingDiscountMinor: number
  /** The cheapest first. */
  readonly options: readonly Option[]
  /** The id of the one that is quoted; null where nothing is delivered, or nothing can be. */
  readonly option: string | null
}

/** Sums of components by kind, and of those that are paid. */
function sumsOf(components: readonly Component[] = []) {
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

export function totalsOf(components: readonly Component[]): Totals {
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
  components: readonly Component[] | undefined
): QuotedLine {
  const sums = sumsOf(components)
  return {
    ...{ key, variantId, quantity, group },
    subtotalMinor: sums.item,
    discountMinor: 0 - sums.discount,
    totalMinor: sums.item + sums.discount,
    taxMinor: sums.tax,
    taxAddedMinor: sums.taxAdded
  }
}

/** `given` says which group it is, and how it is delivered. */
export function quotedGroupOf<Option extends ShippingOption>(
  given: Pick<QuotedGroup<Option>, 'key' | 'options' | 'option'>,
  components: readonly Component[] | undefined
): QuotedGroup<Option> {
  const sums = sumsOf(components)
  return {
    ...given,
    shippingMinor: sums.shipping + sums.shipping_discount,
    shippingDiscountMinor: 0 - sums.shipping_discount,
    taxMinor: sums.tax,
    taxAddedMinor: sums.taxAdded
  }
}

/** What is taxed alike, and paid for or not. */
export type TaxSummary = {
  readonly taxCategory: string
  readonly ratePpm: number
  readonly netMinor: number
  readonly taxMinor: number
  readonly grossMinor: number
  /** Why no tax is paid. */
  readonly exempt?: Exemption
}

export function taxSummaryOf(components: readonly Component[]): TaxSummary[] {
  const summaries = new Map<string, TaxSummary>()
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
