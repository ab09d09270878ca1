import { sumBy } from '../../../kernel/sum-by.ts'
import { hasEffectAmountInCurrency } from './effects.ts'
import type { PromotionCodeFindingCode, PromotionRejection } from './findings.ts'
import type { Promotion, QuoteInput } from './input.ts'
import type { DiscountTargetLine } from './targets.ts'

type ConditionContext = Pick<QuoteInput, 'market' | 'buyer' | 'now'>

/** Returns why a promotion does not apply, given its matching lines at their prices before promotions. */
export function findPromotionRejection(
  promotion: Promotion,
  circumstances: ConditionContext,
  matching: readonly DiscountTargetLine[]
): PromotionRejection | undefined {
  const obstacle = findRejectionCode(promotion, circumstances)
  if (obstacle !== undefined) return { code: obstacle }
  if (matching.length === 0) return { code: 'CODE_NO_MATCHING_LINE' }
  const minimum = promotion.minimumMinor?.[circumstances.market.currency] ?? 0
  const missing = {
    amountMinor: Math.max(0, minimum - sumBy(matching, target => target.fullMinor)),
    quantity: Math.max(0, promotion.minimumQuantity - sumBy(matching, target => target.units))
  }
  return missing.amountMinor + missing.quantity > 0 ? { code: 'CODE_MINIMUM', missing } : undefined
}

/** Returns why a promotion applies to no basket of this market, buyer and time, independent of the lines. */
function findRejectionCode(
  promotion: Promotion,
  { market, buyer, now }: ConditionContext
): PromotionCodeFindingCode | undefined {
  const { id, startsAt, endsAt, effect, minimumMinor, usesLeft, usesPerCustomer } = promotion
  const { code, currency } = market
  if (startsAt !== null && now < startsAt) return 'CODE_NOT_STARTED'
  if (endsAt !== null && now >= endsAt) return 'CODE_EXPIRED'
  if (promotion.markets !== null && !promotion.markets.includes(code)) return 'CODE_NOT_IN_MARKET'
  if (minimumMinor !== null && minimumMinor[currency] === undefined) return 'CODE_NOT_IN_MARKET'
  if (!hasEffectAmountInCurrency(effect, currency)) return 'CODE_NOT_IN_MARKET'
  if (promotion.group !== null && promotion.group !== buyer.group) return 'CODE_NOT_FOR_CUSTOMER'
  if (promotion.firstOrderOnly && !buyer.isFirstOrder) return 'CODE_FIRST_ORDER_ONLY'
  if (usesLeft !== null && usesLeft <= 0) return 'CODE_USED_UP'
  if (usesPerCustomer !== null && (buyer.used.get(id) ?? 0) >= usesPerCustomer) return 'CODE_CUSTOMER_LIMIT'
  return undefined
}

/**
 * Creates a function that finds the lines that match a promotion. It indexes lines by category, because
 * many lines share one.
 */
export function createPromotionLineMatcher(lines: readonly DiscountTargetLine[]) {
  const byCategory = new Map<string, number[]>()
  for (const [index, { line }] of lines.entries())
    for (const id of line.categoryIds) {
      const inside = byCategory.get(id)
      if (inside === undefined) byCategory.set(id, [index])
      else inside.push(index)
    }
  return ({ productIds, categoryIds }: Promotion): readonly DiscountTargetLine[] => {
    if (productIds === null && categoryIds === null) return lines
    const matches = lines.map(({ line }) => productIds?.has(line.productId) ?? false)
    for (const [id, inside] of byCategory)
      if (categoryIds?.has(id)) for (const index of inside) matches[index] = true
    return lines.filter((_, index) => matches[index])
  }
}
