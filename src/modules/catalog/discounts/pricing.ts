import { multiplyByRatePpm } from '../../../kernel/money.ts'

/**
 * A discount that applies to a variant now or later: either a share of the price or an amount in minor units.
 */
export type CatalogVariantDiscount = {
  percentage_ppm: number | null
  amount_minor: number | null
  /** Seconds until the discount starts. Zero or negative: it has started. */
  starts_in: number
  /** Seconds until the discount ends. Null: never. */
  ends_in: number | null
}
export type CurrentDiscountedPrice = {
  discountedPrice: number
  /** Seconds until a discount starts or ends, and `discountedPrice` may change. Null: never. */
  changesIn: number | null
}

/**
 * Returns the selling price in minor units: the lowest of the price, the sale price, and the price with the
 * best single active discount. Discounts are not combined, do not reduce the sale price, and never lead below
 * 0. The view `lowest_prices` has the same rule in SQL; a test compares the two.
 */
export function calculateCurrentVariantPrice(
  price: number,
  salePrice: number | null,
  discounts: readonly CatalogVariantDiscount[]
): CurrentDiscountedPrice {
  const changes = discounts
    .map(discount => (isDiscountRunning(discount) ? discount.ends_in : discount.starts_in))
    .filter((seconds): seconds is number => seconds !== null && seconds > 0)
  return {
    discountedPrice: lowestPrice(price, salePrice, discounts),
    changesIn: changes.length === 0 ? null : Math.min(...changes)
  }
}

/** The inputs of the price of a variant in any market. Amounts in minor units of its currency. */
export type VariantPriceInputs = {
  readonly currency: string
  readonly price: number
  readonly salePrice: number | null
  readonly discounts: readonly CatalogVariantDiscount[]
}

type PricedRow = {
  readonly price_minor: number
  readonly sale_price_minor: number | null
  readonly discounts: readonly CatalogVariantDiscount[] | null
}
export const variantPriceInputsOf = (row: PricedRow, currency: string): VariantPriceInputs => ({
  currency,
  price: row.price_minor,
  salePrice: row.sale_price_minor,
  discounts: row.discounts ?? []
})

/**
 * Returns the price of a variant in a currency: `listed`, from the price list of the market, or else its own
 * price. Returns `undefined` when it has no price in the currency, because prices are never converted. The
 * sale price and discounts by an amount apply in their own currency only.
 */
export function variantPriceInCurrency(
  { currency: own, price: ownPrice, salePrice, discounts }: VariantPriceInputs,
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
  return { price, discountedPrice: lowestPrice(price, isOwn ? salePrice : null, holding) }
}

function lowestPrice(
  price: number,
  salePrice: number | null,
  discounts: readonly CatalogVariantDiscount[]
): number {
  let least = Math.min(price, salePrice ?? price)
  for (const discount of discounts)
    if (isDiscountRunning(discount)) least = Math.min(least, discountedBy(price, discount))
  return Math.max(0, least)
}

// The period is half-open: it includes the start and excludes the end.
export const isDiscountRunning = ({ starts_in, ends_in }: CatalogVariantDiscount) =>
  starts_in <= 0 && (ends_in === null || ends_in > 0)

const discountedBy = (price: number, { percentage_ppm, amount_minor }: CatalogVariantDiscount) =>
  price - (percentage_ppm === null ? (amount_minor ?? 0) : multiplyByRatePpm(price, percentage_ppm))
