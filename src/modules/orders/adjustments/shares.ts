/** A line, the delivery of a group, or without both the cash rounding. */
export type OrderPriceShareKey = { readonly line?: number; readonly group?: string }

/** A stored price component of an order. */
export type OrderPricePart = OrderPriceShareKey & {
  readonly kind: 'item' | 'discount' | 'shipping' | 'shipping_discount' | 'tax' | 'cash_rounding'
  readonly amountMinor: number
  readonly ratePpm: number | null
  readonly taxCategory: string | null
  readonly included: boolean
}

/** A part of an order's price that is paid and credited as a unit. */
export type OrderPriceShare = {
  readonly line?: number
  /** Of a line: its delivery group. */
  readonly group?: string
  /** Units of a line; 1 for other shares. */
  readonly quantity: number
  /** The price with its tax. */
  readonly payableMinor: number
  /** The tax within `payableMinor`. */
  readonly taxMinor: number
  readonly ratePpm: number | null
  readonly taxCategory: string | null
  readonly creditedMinor: number
  readonly creditedUnits: number
}

/** A line of the order whose price is split, with its units that were credited before. */
export type OrderLineWithCreditedUnits = {
  readonly line: number
  readonly group: string
  readonly quantity: number
  readonly creditedUnits: number
}
/** A part of an order's price that an earlier adjustment credited. */
export type EarlierOrderCreditPart = OrderPriceShareKey & { readonly amountMinor: number }

/** The key of a share: its line, otherwise its group. */
export const orderPriceShareKeyOf = ({ line, group }: OrderPriceShareKey): OrderPriceShareKey =>
  line !== undefined ? { line } : group !== undefined ? { group } : {}
const keyTextOf = (key: OrderPriceShareKey) => JSON.stringify(orderPriceShareKeyOf(key))

/**
 * Splits the price of an order into shares, with the amounts credited before: lines in their order, then
 * deliveries, then the cash rounding. A total that was rounded down has no rounding share, because it only
 * caps the credits.
 */
export function splitOrderPrice(
  parts: readonly OrderPricePart[],
  lines: readonly OrderLineWithCreditedUnits[],
  earlier: readonly EarlierOrderCreditPart[]
): OrderPriceShare[] {
  const pricesOf = Map.groupBy(parts, keyTextOf)
  const creditsOf = Map.groupBy(earlier, keyTextOf)
  const priced = (key: OrderPriceShareKey) => {
    const prices = pricesOf.get(keyTextOf(key)) ?? []
    const taxes = prices.filter(({ kind }) => kind === 'tax')
    return {
      payableMinor: sum(prices.filter(({ included }) => !included)),
      taxMinor: sum(taxes),
      ratePpm: taxes[0]?.ratePpm ?? null,
      taxCategory: taxes[0]?.taxCategory ?? null,
      creditedMinor: sum(creditsOf.get(keyTextOf(key)) ?? [])
    }
  }
  const whole = { quantity: 1, creditedUnits: 0 }
  const groups = [...new Set(lines.map(({ group }) => group))].sort()
  const others = [...groups.map(group => ({ group })), {}].map(key => ({ ...key, ...whole, ...priced(key) }))
  return [
    ...lines.map(line => ({ ...line, ...priced({ line: line.line }) })),
    ...others.filter(({ payableMinor }) => payableMinor > 0)
  ]
}

const sum = (parts: readonly { readonly amountMinor: number }[]) =>
  parts.reduce((all, { amountMinor }) => all + amountMinor, 0)
