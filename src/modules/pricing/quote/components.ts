import { sumBy } from '../../../kernel/sum-by.ts'
import type { QuoteTaxExemption } from './input.ts'

/**
 * One part of a price. All amounts of a quote, an order or an invoice are sums of components. The total is
 * the sum of those that are not `included`.
 */
export type PriceComponent = {
  readonly kind: 'item' | 'discount' | 'shipping' | 'shipping_discount' | 'tax' | 'cash_rounding'
  /** Key of the line or delivery group to which the component belongs. */
  readonly line?: string
  readonly group?: string
  /** Promotion and code of a discount; absent for a catalog discount. */
  readonly promotion?: string
  readonly code?: string
  /** Shipping option. */
  readonly option?: string
  /** Negative for discounts. */
  readonly amountMinor: number
  /** Net amount that is taxed. */
  readonly baseMinor?: number
  readonly ratePpm?: number
  readonly taxCategory?: string
  /** Whether the amount of the component is already part of other amounts, like a tax that prices include. */
  readonly included: boolean
  /** The exemption of tax that the buyer does not pay. */
  readonly exempt?: QuoteTaxExemption
}

/** Sums the components that are payable, which are those that other amounts do not include. */
export const sumPayableComponents = (components: readonly PriceComponent[]): number =>
  sumBy(components, ({ amountMinor, included }) => (included ? 0 : amountMinor))
