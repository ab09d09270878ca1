import type { DeliveryDestination } from '../../../kernel/areas.ts'
import { sumBy } from '../../../kernel/sum-by.ts'
import type { Quote } from '../../pricing/index.ts'
import type { ShippingOption, ShippingParcel } from '../../shipping/index.ts'
import type { CheckoutLineForSale } from './lines.ts'

/**
 * Keys of the two delivery groups of a quote: goods (delivered by a carrier or picked up by the buyer) and
 * digital lines.
 */
export const GOODS_DELIVERY_GROUP_KEY = 'goods'
export const DIGITAL_DELIVERY_GROUP_KEY = 'digital'

/** Returns the shipping options of a parcel, cheapest first, with those that providers returned for it. */
export type CalculateShippingOptions = (
  parcel: ShippingParcel,
  ofProviders?: readonly ShippingOption[]
) => readonly ShippingOption[]
/**
 * How goods reach the buyer. A quote is calculated for one method; the shipping module returns options of
 * both.
 */
export type DeliveryMethod = 'shipping' | 'pickup'

/** The parcel of the lines that need shipping. Its value is the sum of their totals in the quote, after discounts. */
export function shippingParcelOf(
  lines: readonly CheckoutLineForSale[],
  quote: Quote,
  destination: DeliveryDestination | null
): ShippingParcel {
  const totalOf = new Map(quote.lines.map(line => [line.key, line.totalMinor]))
  const carried = lines.filter(({ variant }) => variant.requiresShipping)
  return {
    destination,
    currency: quote.currency,
    weightGrams: sumBy(carried, ({ variant, quantity }) => variant.weightGrams * quantity),
    valueMinor: sumBy(carried, ({ id }) => totalOf.get(id) ?? 0),
    items: sumBy(carried, ({ quantity }) => quantity),
    requiresShipping: true
  }
}
