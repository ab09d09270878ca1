/** What stands between a code and its effect, in words for the shopper. */
const CODE_MESSAGES = {
  CODE_UNKNOWN: 'This code is not known here.',
  CODE_NOT_STARTED: 'This code cannot be used yet.',
  CODE_EXPIRED: 'This code has expired.',
  CODE_NOT_IN_MARKET: 'This code cannot be used in this country or currency.',
  CODE_NOT_FOR_CUSTOMER: 'This code is for other customers.',
  CODE_FIRST_ORDER_ONLY: 'This code is for a first order.',
  CODE_USED_UP: 'This code has been used up.',
  CODE_CUSTOMER_LIMIT: 'You have used this code as often as it can be used.',
  CODE_NO_MATCHING_LINE: 'This code is for other products than those of this order.',
  CODE_MINIMUM: 'This code needs a larger order.',
  CODE_NEEDS_DESTINATION: 'This code counts once it is known where the order goes.',
  CODE_NOT_FOR_SHIPPING_METHOD: 'This code is for another shipping method.',
  CODE_NOT_COMBINABLE: 'This code cannot be combined with another discount of this order.',
  CODE_NO_EFFECT: 'This code takes nothing off this order.'
}
const SHIPPING_MESSAGES = {
  SHIPPING_DESTINATION_MISSING: 'Shipping is added once it is known where the order goes.',
  SHIPPING_NOT_AVAILABLE: 'This cannot be delivered there.',
  SHIPPING_CHOICE_GONE: 'The chosen way of delivery is no longer offered; this is the cheapest one.'
}
export type CodeProblem = keyof typeof CODE_MESSAGES
export type ShippingProblem = keyof typeof SHIPPING_MESSAGES

/** Why a code, or its promotion, has no effect. */
export type Problem = {
  readonly code: CodeProblem
  /** With `CODE_MINIMUM`: what would have to be added. */
  readonly missing?: { readonly amountMinor: number; readonly quantity: number }
  /** With `CODE_NOT_COMBINABLE`: what is taken off instead. */
  readonly conflictsWith?: readonly { readonly id: string; readonly name: string }[]
}
export type CodeFinding = Problem & {
  readonly message: string
  /** As `normalizeCode` writes it. */
  readonly promotionCode: string
}
export type ShippingFinding = {
  readonly code: ShippingProblem
  readonly message: string
  readonly group: string
}
/** What the buyer should know of a quote, besides its figures. */
export type Finding = CodeFinding | ShippingFinding

export const codeFinding = (promotionCode: string, problem: Problem): CodeFinding => ({
  ...problem,
  message: CODE_MESSAGES[problem.code],
  promotionCode
})
export const shippingFinding = (code: ShippingProblem, group: string): ShippingFinding => ({
  code,
  message: SHIPPING_MESSAGES[code],
  group
})
