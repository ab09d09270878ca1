import { type VariantPriceInputs, variantPriceInCurrency } from '../discounts/pricing.ts'

/** A variant that is for sale, and its price in a price list, if the list has one. */
export type VariantWithListPrice = {
  readonly productId: string
  readonly own: VariantPriceInputs
  readonly listed: number | undefined
}
/**
 * The price of the cheapest variant of a product, with and without discounts, and the number of variants for
 * sale.
 */
export type LowestProductPrice = {
  readonly productId: string
  readonly discountedPrice: number
  readonly price: number
  readonly variants: number
}

/**
 * Returns the lowest price of each product in a price list. The view `lowest_prices` does it for the
 * catalog's prices.
 */
export function lowestPricesOfProducts(
  currency: string,
  variants: readonly VariantWithListPrice[]
): LowestProductPrice[] {
  const lowest = new Map<string, LowestProductPrice>()
  for (const { productId, own, listed } of variants) {
    const priced = variantPriceInCurrency(own, listed, currency)
    if (priced === undefined) continue
    const before = lowest.get(productId)
    const best = before === undefined || isCheaper(priced, before) ? priced : before
    lowest.set(productId, {
      productId,
      discountedPrice: best.discountedPrice,
      price: best.price,
      variants: 1 + (before?.variants ?? 0)
    })
  }
  return [...lowest.values()]
}

type Priced = { readonly price: number; readonly discountedPrice: number }
/** Among equal discounted prices the lower full price wins, so that the result is deterministic. */
const isCheaper = (a: Priced, b: Priced) =>
  a.discountedPrice < b.discountedPrice || (a.discountedPrice === b.discountedPrice && a.price < b.price)
