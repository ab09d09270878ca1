import { type Priceable, priceIn } from '../discounts/pricing.ts'

/** A variant that is sold, and what it costs in a list that may have something for it. */
export type ListedVariant = {
  readonly productId: string
  readonly own: Priceable
  readonly listed: number | undefined
}
/** The cheapest variant of a product: what it is sold for, and its price without discounts. Of how many on offer. */
export type LowestPrice = {
  readonly productId: string
  readonly discountedPrice: number
  readonly price: number
  readonly variants: number
}

/** The lowest prices, in the currency of a list, of all products that have one. The view `lowest_prices` says it of their own. */
export function lowestIn(currency: string, variants: readonly ListedVariant[]): LowestPrice[] {
  const lowest = new Map<string, LowestPrice>()
  for (const { productId, own, listed } of variants) {
    const priced = priceIn(own, listed, currency)
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
/** Of two that are sold for the same, the one with the lower price: so it is always the same one. */
const isCheaper = (a: Priced, b: Priced) =>
  a.discountedPrice < b.discountedPrice || (a.discountedPrice === b.discountedPrice && a.price < b.price)
