import type { PromotionCodeFinding, PromotionCodeFindingCode } from '../quote/findings.ts'
import type { Promotion, QuoteInput } from '../quote/input.ts'

/** A code without effect, because it or its promotion is inactive. */
export type InactivePromotionCode = {
  readonly code: string
  readonly promotion_id: string
  readonly code_active: boolean
}
/** The part of a quote's input that reasons need. */
export type PromotionCodeFindingContext = Pick<QuoteInput, 'market' | 'buyer'> & {
  readonly rules: Pick<QuoteInput['rules'], 'promotions' | 'codes'>
}
type ReasonInput = Omit<PromotionCodeFindingContext, 'rules'> & {
  readonly promotion: Promotion
  readonly finding: PromotionCodeFinding
  /** Promotions that apply instead. */
  readonly conflicts: readonly Promotion[]
}

/** Explains to administrators why a code has no effect, including details that shoppers are not told. */
export function explainPromotionCodeFinding(
  finding: PromotionCodeFinding,
  promotion: Promotion | undefined,
  stopped: InactivePromotionCode | undefined,
  { market, buyer, rules }: PromotionCodeFindingContext
): string {
  const isConflict = ({ id }: Promotion) => finding.conflictsWith?.some(each => each.id === id) ?? false
  const conflicts = rules.promotions.filter(isConflict)
  if (promotion !== undefined) return REASONS[finding.code]({ market, buyer, promotion, finding, conflicts })
  if (stopped === undefined) return 'There is no such code.'
  return stopped.code_active ? 'Its promotion is inactive (active).' : 'The code is inactive (active).'
}

const REASONS: Record<PromotionCodeFindingCode, (about: ReasonInput) => string> = {
  CODE_UNKNOWN: () => 'There is no such code.',
  CODE_NOT_STARTED: ({ promotion }) => `It starts at ${timeOf(promotion.startsAt)} (starts_at).`,
  CODE_EXPIRED: ({ promotion }) => `It ended at ${timeOf(promotion.endsAt)} (ends_at).`,
  CODE_NOT_IN_MARKET: ({ promotion, market: { code, currency } }) => {
    const { markets, minimumMinor } = promotion
    if (markets !== null && !markets.includes(code))
      return `It applies in other markets: ${markets.join(', ')}.`
    const field = minimumMinor !== null && minimumMinor[currency] === undefined ? 'minimum' : 'effect.amounts'
    return `It has no amount in ${currency} (${field}).`
  },
  CODE_NOT_FOR_CUSTOMER: ({ promotion, buyer }) =>
    `It is for customers of the group ${promotion.group} (customer_group), and this one is of ${buyer.group ?? 'none'}.`,
  CODE_FIRST_ORDER_ONLY: () => 'It is for first orders (first_order_only), and this is not the first.',
  CODE_USED_UP: ({ promotion: { usesLeft } }) =>
    `${usesLeft === null || usesLeft > 0 ? 'The code' : 'The promotion'} has reached its usage limit (uses_max).`,
  CODE_CUSTOMER_LIMIT: ({ promotion, buyer }) =>
    `This customer has used it ${buyer.used.get(promotion.id)} of ${promotion.usesPerCustomer} times (uses_per_customer).`,
  CODE_NO_MATCHING_LINE: () => 'No line has one of its product_ids or category_ids. Set these in the lines.',
  CODE_MINIMUM: ({ finding: { missing }, market }) => {
    const { amountMinor = 0, quantity = 0 } = missing ?? {}
    const amount = amountMinor > 0 ? [`${amountMinor} minor units of ${market.currency} (minimum)`] : []
    const units = quantity > 0 ? [`${quantity} units (minimum_quantity)`] : []
    return `Lines that match lack ${[...amount, ...units].join(' and ')}.`
  },
  CODE_NEEDS_DESTINATION: () => 'It discounts deliveries, and the request has no destination.',
  CODE_NOT_FOR_SHIPPING_METHOD: ({ promotion: { shippingMethodIds } }) =>
    shippingMethodIds === null
      ? 'It is for the cheapest shipping option (cheapest_only).'
      : 'It is for other shipping methods (shipping_method_ids), or for the cheapest option (cheapest_only).',
  CODE_NOT_COMBINABLE: ({ promotion, conflicts }) =>
    conflicts.includes(promotion)
      ? 'Another code of the same promotion already applies.'
      : `Other promotions apply first, by class, priority or saving: ${conflicts.flatMap(other => refusalsOf(promotion, other)).join(', ')}.`,
  CODE_NO_EFFECT: ({ promotion }) =>
    promotion.class === 'shipping'
      ? 'No delivery has a cost. Set "shipping_options".'
      : 'Its lines cost nothing, or other promotions already discount them fully.'
}

const timeOf = (at: number | null) => (at === null ? '' : new Date(at).toISOString())

/** Which of two conflicting promotions excludes the other. */
const refusalsOf = (one: Promotion, other: Promotion): string[] => [
  ...(other.combines.includes(one.class) ? [] : [`“${other.name}” has no ${one.class} in combines`]),
  ...(one.combines.includes(other.class)
    ? []
    : [`this one has no ${other.class} in combines, for “${other.name}”`])
]
