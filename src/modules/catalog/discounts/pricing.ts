import { shareOf } from '../../../kernel/money.ts'

/** A discount that concerns a variant now or later. Either a share of the price or an amount in minor units. */
export type Discount = {
  percentage_ppm: number | null
  amount_minor: number | null
  /** Seconds until it starts; it has started when this is not positive. */
  starts_in: number
  /** Seconds until it ends; `null`: never. */
  ends_in: number | null
}
export type Priced = {
  discountedPrice: number
  /** Seconds until a discount starts or ends; `null`: never. Until then `discountedPrice` stays what it is. */
  changesIn: number | null
}

/**
 * What something is sold for: the lowest of its price, its sale price, and its price under the best single discount
 * that is running. Discounts neither add up nor reduce the sale price, and nothing is sold below 0. Minor units.
 * The list of products knows the same rule in SQL; a test compares the two.
 */
export function priceNow(price: number, salePrice: number | null, discounts: readonly Discount[]): Priced {
  const candidates = discounts.filter(isRunning).map(discount => reduced(price, discount))
  const changes = discounts
    .map(discount => (isRunning(discount) ? discount.ends_in : discount.starts_in))
    .filter((seconds): seconds is number => seconds !== null && seconds > 0)
  return {
    discountedPrice: Math.max(0, Math.min(price, salePrice ?? price, ...candidates)),
    changesIn: changes.length === 0 ? null : Math.min(...changes)
  }
}

// Half-open: it runs at the instant it starts and does not run at the instant it ends.
export const isRunning = ({ starts_in, ends_in }: Discount) =>
  starts_in <= 0 && (ends_in === null || ends_in > 0)

const reduced = (price: number, { percentage_ppm, amount_minor }: Discount) =>
  price - (percentage_ppm === null ? (amount_minor ?? 0) : shareOf(price, percentage_ppm))
