/** A line, the delivery of a group, or without both the cash rounding. */
export type ShareKey = { readonly line?: number; readonly group?: string }

/** A stored price component of an order. */
export type PricePart = ShareKey & {
  readonly kind: 'item' | 'discount' | 'shipping' | 'shipping_discount' | 'tax' | 'cash_rounding'
  readonly amountMinor: number
  readonly ratePpm: number | null
  readonly taxCategory: string | null
  readonly included: boolean
}

/** A part of an order's price that is paid and credited as a unit. */
export type CreditShare = {
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

export type LineOfPrice = {
  readonly line: number
  readonly group: string
  readonly quantity: number
  readonly creditedUnits: number
}
/** A part that was credited before. */
export type EarlierPart = ShareKey & { readonly amountMinor: number }

/** The key of a share: its line, otherwise its group. */
export const shareKeyOf = ({ line, group }: ShareKey): ShareKey =>
  line !== undefined ? { line } : group !== undefined ? { group } : {}
const nameOf = (key: ShareKey) => JSON.stringify(shareKeyOf(key))

/**
 * Splits the price of an order into shares, with the amounts credited before: lines in their order, then
 * deliveries, then the cash rounding. A total that was rounded down has no rounding share, because it only
 * caps the credits.
 */
export function creditSharesOf(
  parts: readonly PricePart[],
  lines: readonly LineOfPrice[],
  earlier: readonly EarlierPart[]
): CreditShare[] {
  const pricesOf = Map.groupBy(parts, nameOf)
  const creditsOf = Map.groupBy(earlier, nameOf)
  const priced = (key: ShareKey) => {
    const prices = pricesOf.get(nameOf(key)) ?? []
    const taxes = prices.filter(({ kind }) => kind === 'tax')
    return {
      payableMinor: sum(prices.filter(({ included }) => !included)),
      taxMinor: sum(taxes),
      ratePpm: taxes[0]?.ratePpm ?? null,
      taxCategory: taxes[0]?.taxCategory ?? null,
      creditedMinor: sum(creditsOf.get(nameOf(key)) ?? [])
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
