import type { PricingApi, Quote } from '../../pricing/index.ts'

/** What a promotion takes off, of lines and deliveries together. */
export type Discount = {
  readonly promotionId: string
  /** What shoppers read beside it. */
  readonly name: string
  /** The code that it was asked for by; null: it holds without one. */
  readonly code: string | null
  readonly amountMinor: number
}
type Promotions = Awaited<ReturnType<PricingApi['rules']>>['promotions']

/** In the order in which they were taken. */
export function discountsOf({ components }: Quote, promotions: Promotions): Discount[] {
  const nameOf = new Map(promotions.map(({ id, name }) => [id, name]))
  const discounts = new Map<string, Discount>()
  for (const { promotion: promotionId, code = null, amountMinor: off } of components) {
    if (promotionId === undefined) continue
    const before = discounts.get(promotionId)?.amountMinor ?? 0
    const name = nameOf.get(promotionId) ?? ''
    discounts.set(promotionId, { promotionId, name, code, amountMinor: before - off })
  }
  return [...discounts.values()]
}
