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
  const changes = discounts
    .map(discount => (isRunning(discount) ? discount.ends_in : discount.starts_in))
    .filter((seconds): seconds is number => seconds !== null && seconds > 0)
  return {
    discountedPrice: lowest(price, salePrice, discounts),
    changesIn: changes.length === 0 ? null : Math.min(...changes)
  }
}

/** All that the price of a variant depends on, whatever the market. Amounts in minor units of its currency. */
export type Priceable = {
  readonly currency: string
  readonly price: number
  readonly salePrice: number | null
  readonly discounts: readonly Discount[]
}

type PricedRow = {
  readonly price_minor: number
  readonly sale_price_minor: number | null
  readonly discounts: readonly Discount[] | null
}
export const priceable = (row: PricedRow, currency: string): Priceable => ({
  currency,
  price: row.price_minor,
  salePrice: row.sale_price_minor,
  discounts: row.discounts ?? []
})

/**
 * What a variant is sold for in a currency: at `listed`, the price of the market's list, else at its own; `undefined`: not at
 * all, since prices are never converted. A sale price, and what is off by an amount, hold in their own currency only.
 */
export function priceIn(
  { currency: own, price: ownPrice, salePrice, discounts }: Priceable,
  listed: number | undefined,
  currency: string
): { price: number; discountedPrice: number } | undefined {
  const isOwn = currency === own
  const price = listed ?? (isOwn ? ownPrice : undefined)
  if (price === undefined) return undefined
  const holding =
    isOwn || discounts.length === 0
      ? discounts
      : discounts.filter(({ amount_minor }) => amount_minor === null)
  return { price, discountedPrice: lowest(price, isOwn ? salePrice : null, holding) }
}

function lowest(price: number, salePrice: number | null, discounts: readonly Discount[]): number {
  let least = Math.min(price, salePrice ?? price)
  for (const discount of discounts) if (isRunning(discount)) least = Math.min(least, reduced(price, discount))
  return Math.max(0, least)
}

// Half-open: it runs at the instant it starts and does not run at the instant it ends.
export const isRunning = ({ starts_in, ends_in }: Discount) =>
  starts_in <= 0 && (ends_in === null || ends_in > 0)

const reduced = (price: number, { percentage_ppm, amount_minor }: Discount) =>
  price - (percentage_ppm === null ? (amount_minor ?? 0) : shareOf(price, percentage_ppm))
