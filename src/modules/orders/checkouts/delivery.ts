import type { Destination } from '../../../kernel/areas.ts'
import type { Quote } from '../../pricing/index.ts'
import type { ShippingOption, ShippingParcel } from '../../shipping/index.ts'
import type { SoldLine } from './lines.ts'

/**
 * Keys of the two delivery groups of a quote: lines that a carrier delivers or the buyer picks up, and
 * digital lines.
 */
export const GOODS = 'goods'
export const DIGITAL = 'digital'

/** Returns the shipping options of a parcel, cheapest first. */
export type RatesOf = (parcel: ShippingParcel) => readonly ShippingOption[]
/**
 * How goods reach the buyer. A quote is calculated for one method; the shipping module returns options of
 * both.
 */
export type DeliveryMethod = 'shipping' | 'pickup'

/** The parcel of the lines that need shipping. Its value is the discounted total of the quote. */
export function parcelOf(
  lines: readonly SoldLine[],
  quote: Quote,
  destination: Destination | null
): ShippingParcel {
  const totalOf = new Map(quote.lines.map(line => [line.key, line.totalMinor]))
  const carried = lines.filter(({ variant }) => variant.requiresShipping)
  const sum = (of: (line: SoldLine) => number) => carried.reduce((total, line) => total + of(line), 0)
  return {
    destination,
    currency: quote.currency,
    weightGrams: sum(({ variant, quantity }) => variant.weightGrams * quantity),
    valueMinor: sum(({ variantId }) => totalOf.get(variantId) ?? 0),
    items: sum(({ quantity }) => quantity),
    requiresShipping: true
  }
}
