import type { CodeFinding, CodeProblem } from '../quote/findings.ts'
import type { Promotion, QuoteInput } from '../quote/input.ts'

/** A code that counts for nobody, since it, or its promotion, is out of use. */
export type StoppedCode = {
  readonly code: string
  readonly promotion_id: string
  readonly code_active: boolean
}
/** What of a quote's input reasons rest on. */
export type Circumstances = Pick<QuoteInput, 'market' | 'buyer'> & {
  readonly rules: Pick<QuoteInput['rules'], 'promotions' | 'codes'>
}
type About = Omit<Circumstances, 'rules'> & {
  readonly promotion: Promotion
  readonly finding: CodeFinding
  /** What is taken off instead. */
  readonly conflicts: readonly Promotion[]
}

/** Why a code has no effect, in words for administrators, who may know what shoppers are not told. */
export function reasonOf(
  finding: CodeFinding,
  promotion: Promotion | undefined,
  stopped: StoppedCode | undefined,
  { market, buyer, rules }: Circumstances
): string {
  const isConflict = ({ id }: Promotion) => finding.conflictsWith?.some(each => each.id === id) ?? false
  const conflicts = rules.promotions.filter(isConflict)
  if (promotion !== undefined) return REASONS[finding.code]({ market, buyer, promotion, finding, conflicts })
  if (stopped === undefined) return 'There is no such code.'
  return stopped.code_active ? 'Its promotion is out of use (active).' : 'The code is out of use (active).'
}

const REASONS: Record<CodeProblem, (about: About) => string> = {
  CODE_UNKNOWN: () => 'There is no such code.',
  CODE_NOT_STARTED: ({ promotion }) => `It starts at ${timeOf(promotion.startsAt)} (starts_at).`,
  CODE_EXPIRED: ({ promotion }) => `It ended at ${timeOf(promotion.endsAt)} (ends_at).`,
  CODE_NOT_IN_MARKET: ({ promotion, market: { code, currency } }) => {
    const { markets, minimumMinor } = promotion
    if (markets !== null && !markets.includes(code))
      return `It holds in other markets: ${markets.join(', ')}.`
    const field = minimumMinor !== null && minimumMinor[currency] === undefined ? 'minimum' : 'effect.amounts'
    return `It has no amount in ${currency} (${field}).`
  },
  CODE_NOT_FOR_CUSTOMER: ({ promotion, buyer }) =>
    `It is for customers of the group ${promotion.group} (customer_group), and this one is of ${buyer.group ?? 'none'}.`,
  CODE_FIRST_ORDER_ONLY: () => 'It is for first orders (first_order_only), and this is none.',
  CODE_USED_UP: ({ promotion: { usesLeft } }) =>
    `${usesLeft === null || usesLeft > 0 ? 'The code' : 'The promotion'} has been used as often as it can be (uses_max).`,
  CODE_CUSTOMER_LIMIT: ({ promotion, buyer }) =>
    `This customer has used it ${buyer.used.get(promotion.id)} of ${promotion.usesPerCustomer} times (uses_per_customer).`,
  CODE_NO_MATCHING_LINE: () =>
    'No line has one of its product_ids, or is in one of its category_ids: lines must say what they are of.',
  CODE_MINIMUM: ({ finding: { missing }, market }) => {
    const { amountMinor = 0, quantity = 0 } = missing ?? {}
    const amount = amountMinor > 0 ? [`${amountMinor} minor units of ${market.currency} (minimum)`] : []
    const units = quantity > 0 ? [`${quantity} units (minimum_quantity)`] : []
    return `Lines that match lack ${[...amount, ...units].join(' and ')}.`
  },
  CODE_NEEDS_DESTINATION: () => 'It takes something off deliveries, and nobody said where to.',
  CODE_NOT_FOR_SHIPPING_METHOD: ({ promotion: { shippingMethodIds } }) =>
    shippingMethodIds === null
      ? 'It is for the cheapest shipping option (cheapest_only).'
      : 'It is for other shipping methods (shipping_method_ids), or for the cheapest option (cheapest_only).',
  CODE_NOT_COMBINABLE: ({ promotion, conflicts }) =>
    conflicts.includes(promotion)
      ? 'Another code of the same promotion counts already.'
      : `Others came before it, by class, by priority, or since they save more: ${conflicts.flatMap(other => refusalsOf(promotion, other)).join(', ')}.`,
  CODE_NO_EFFECT: ({ promotion }) =>
    promotion.class === 'shipping'
      ? 'There is no delivery that costs anything: say in "shipping_options" what it costs.'
      : 'What it is for costs nothing, or others have taken off all of it.'
}

const timeOf = (at: number | null) => (at === null ? '' : new Date(at).toISOString())

/** Who of both does not want the other one beside it. */
const refusalsOf = (one: Promotion, other: Promotion): string[] => [
  ...(other.combines.includes(one.class) ? [] : [`“${other.name}” has no ${one.class} in combines`]),
  ...(one.combines.includes(other.class)
    ? []
    : [`this one has no ${other.class} in combines, for “${other.name}”`])
]
