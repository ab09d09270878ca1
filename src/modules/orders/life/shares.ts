/** A line; or the delivery of a group; or, without any, what rounding to what can be paid has added. */
export type ShareKey = { readonly line?: number; readonly group?: string }

/** A component of a price as orders keep it. */
export type PricePart = ShareKey & {
  readonly kind: 'item' | 'discount' | 'shipping' | 'shipping_discount' | 'tax' | 'cash_rounding'
  readonly amountMinor: number
  readonly ratePpm: number | null
  readonly taxCategory: string | null
  readonly included: boolean
}

/** What is paid, and credited, as one. */
export type Share = {
  readonly line?: number
  /** Of lines: the group that they are delivered with. */
  readonly group?: string
  /** Of lines. */
  readonly quantity: number
  /** What it costs, with its tax. */
  readonly payableMinor: number
  /** The tax that is part of that. */
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
/** What was credited of a share before. */
export type EarlierPart = ShareKey & { readonly amountMinor: number }

/** Which share it is: of a line that alone, whatever group it belongs to. */
export const keyOf = ({ line, group }: ShareKey): ShareKey =>
  line !== undefined ? { line } : group !== undefined ? { group } : {}
const nameOf = (key: ShareKey) => JSON.stringify(keyOf(key))

/**
 * An order's price as what can be credited of it, with what is credited already. Lines first, in their order, then deliveries.
 * A total that was rounded down has no share of the rounding: it is credited at most.
 */
export function sharesOf(
  parts: readonly PricePart[],
  lines: readonly LineOfPrice[],
  earlier: readonly EarlierPart[]
): Share[] {
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
