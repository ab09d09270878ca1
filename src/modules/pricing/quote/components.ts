import type { Exemption } from './input.ts'

/**
 * One thing that makes up a price. Components are the truth: whatever else a quote, an order or an invoice says of money is
 * a sum of some of them. The total is the sum of those that are not `included`.
 */
export type Component = {
  readonly kind: 'item' | 'discount' | 'shipping' | 'shipping_discount' | 'tax' | 'cash_rounding'
  /** The key of the line, or of the group, that it belongs to. */
  readonly line?: string
  readonly group?: string
  /** Of a discount: the promotion and the code that gave it; without, it is one of the catalog. */
  readonly promotion?: string
  readonly code?: string
  /** Of shipping. */
  readonly option?: string
  /** Below zero for what is taken off. */
  readonly amountMinor: number
  /** Of tax: what it is for, without it. */
  readonly baseMinor?: number
  readonly ratePpm?: number
  readonly taxCategory?: string
  /** It is part of the other amounts already. */
  readonly included: boolean
  /** Of tax that the buyer does not pay: why. */
  readonly exempt?: Exemption
}

export function sumOf<T>(list: readonly T[], of: (each: T) => number): number {
  let sum = 0
  for (const each of list) sum += of(each)
  return sum
}

/** The total of components. */
export const payableOf = (components: readonly Component[]): number =>
  sumOf(components, ({ amountMinor, included }) => (included ? 0 : amountMinor))
