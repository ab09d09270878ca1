import type { Destination } from '../../../kernel/areas.ts'
import type { Quote } from '../../pricing/index.ts'
import type { Parcel, ShippingOption } from '../../shipping/index.ts'
import type { SoldLine } from './lines.ts'

/** Lines by how they come: what is carried, and what needs no delivery. */
export const GOODS = 'goods'
export const DIGITAL = 'digital'

/** What shipping says of a parcel: all ways to have it, the cheapest first. */
export type RatesOf = (parcel: Parcel) => readonly ShippingOption[]
/** How goods come. A quote is asked for one of these, and shipping answers for both. */
export type Method = 'shipping' | 'pickup'

/** What of a quote has to be carried, as the quote itself reckons with it. */
export function parcelOf(lines: readonly SoldLine[], quote: Quote, destination: Destination | null): Parcel {
  const left = new Map(quote.lines.map(line => [line.key, line.totalMinor]))
  const carried = lines.filter(({ variant }) => variant.requiresShipping)
  const sum = (of: (line: SoldLine) => number) => carried.reduce((total, line) => total + of(line), 0)
  return {
    destination,
    currency: quote.currency,
    weightGrams: sum(({ variant, quantity }) => variant.weightGrams * quantity),
    valueMinor: sum(({ variantId }) => left.get(variantId) ?? 0),
    items: sum(({ quantity }) => quantity),
    requiresShipping: true
  }
}
