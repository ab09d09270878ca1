/** Messages for shoppers: why a code has no effect. */
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
  SHIPPING_CHOICE_GONE: 'The chosen shipping method is no longer offered; this is the cheapest one.'
}
export type PromotionCodeFindingCode = keyof typeof CODE_MESSAGES
export type QuoteShippingFindingCode = keyof typeof SHIPPING_MESSAGES

/** Why a code or its promotion has no effect. */
export type PromotionRejection = {
  readonly code: PromotionCodeFindingCode
  /** With `CODE_MINIMUM`: amount and quantity that are missing. */
  readonly missing?: { readonly amountMinor: number; readonly quantity: number }
  /** With `CODE_NOT_COMBINABLE`: the promotions that apply instead. */
  readonly conflictsWith?: readonly { readonly id: string; readonly name: string }[]
}
export type PromotionCodeFinding = PromotionRejection & {
  readonly message: string
  /** Normalized by `normalizePromotionCode`. */
  readonly promotionCode: string
}
export type QuoteShippingFinding = {
  readonly code: QuoteShippingFindingCode
  readonly message: string
  readonly group: string
}
/** A message to the buyer about a quote. */
export type QuoteFinding = PromotionCodeFinding | QuoteShippingFinding

export const createPromotionCodeFinding = (
  promotionCode: string,
  problem: PromotionRejection
): PromotionCodeFinding => ({
  ...problem,
  message: CODE_MESSAGES[problem.code],
  promotionCode
})
export const createShippingFinding = (
  code: QuoteShippingFindingCode,
  group: string
): QuoteShippingFinding => ({
  code,
  message: SHIPPING_MESSAGES[code],
  group
})
