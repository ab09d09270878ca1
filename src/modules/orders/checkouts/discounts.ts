import type { PricingApi, Quote } from '../../pricing/index.ts'

/** The discount of one promotion on lines and delivery together. */
export type CheckoutDiscount = {
  readonly promotionId: string
  /** Name of the promotion for buyers. */
  readonly name: string
  /** The promotion code that the buyer sent. Null: the promotion applies without one. */
  readonly code: string | null
  readonly amountMinor: number
}
type Promotions = Awaited<ReturnType<PricingApi['readRules']>>['promotions']

/** Adds up the discounts of each promotion, in the order in which the quote applied them. */
export function discountsByPromotion({ components }: Quote, promotions: Promotions): CheckoutDiscount[] {
  const nameOf = new Map(promotions.map(({ id, name }) => [id, name]))
  const discounts = new Map<string, CheckoutDiscount>()
  for (const { promotion: promotionId, code = null, amountMinor: off } of components) {
    if (promotionId === undefined) continue
    const before = discounts.get(promotionId)?.amountMinor ?? 0
    const name = nameOf.get(promotionId) ?? ''
    discounts.set(promotionId, { promotionId, name, code, amountMinor: before - off })
  }
  return [...discounts.values()]
}
