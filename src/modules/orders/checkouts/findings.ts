import type { Finding as QuoteFinding } from '../../pricing/index.ts'

/** A problem or a remark about a checkout, for the buyer. */
export type CheckoutFinding = QuoteFinding | OwnFinding

type OwnFinding = {
  readonly code: keyof typeof MESSAGES
  readonly message: string
  readonly variantId?: string
  readonly available?: number
  readonly rule?: { readonly min: number; readonly max: number; readonly step: number }
  readonly field?: string
  /** The id of the line that a check refuses. */
  readonly line?: string
  /** The code of a check of another module. */
  readonly checkCode?: string
}

const MESSAGES = {
  VARIANT_UNAVAILABLE: 'This item is no longer for sale.',
  VARIANT_NOT_IN_MARKET: 'This item is not sold in this country or currency.',
  QUANTITY_RULE: 'This item is sold in other quantities.',
  STOCK_SHORT: 'There is not enough stock of this item.',
  CART_CHANGED: 'The cart has changed since the checkout was written.',
  PRICE_CHANGED: 'The price has changed since the checkout was written.',
  MARKET_GONE: 'The chosen market no longer exists. These are the prices of another market.',
  MARKET_DESTINATION:
    'The chosen market does not deliver to this country. These are the prices of the market that does.',
  EMAIL_MISSING: 'An email address is required.',
  EMAIL_INVALID: 'This is not an email address.',
  ADDRESS_MISSING: 'A shipping address is required.',
  ADDRESS_INVALID: 'The address is not complete.',
  DELIVERY_NOT_INCLUDED: 'The price does not include delivery.',
  ORDER_NOT_ALLOWED: 'This purchase is not allowed.',
  ORDER_CHECK_UNAVAILABLE: 'A check of this purchase did not answer. It is repeated with the order.'
}

/** Whether the buyer must solve the finding before the checkout can be completed. */
const BLOCKS = {
  VARIANT_UNAVAILABLE: true,
  VARIANT_NOT_IN_MARKET: true,
  QUANTITY_RULE: true,
  STOCK_SHORT: true,
  CART_CHANGED: true,
  PRICE_CHANGED: false,
  MARKET_GONE: false,
  MARKET_DESTINATION: true,
  EMAIL_MISSING: true,
  EMAIL_INVALID: true,
  ADDRESS_MISSING: true,
  ADDRESS_INVALID: true,
  DELIVERY_NOT_INCLUDED: false,
  ORDER_NOT_ALLOWED: true,
  ORDER_CHECK_UNAVAILABLE: false,
  SHIPPING_DESTINATION_MISSING: true,
  SHIPPING_NOT_AVAILABLE: true,
  SHIPPING_CHOICE_GONE: false,
  CODE_UNKNOWN: false,
  CODE_NOT_STARTED: false,
  CODE_EXPIRED: false,
  CODE_NOT_IN_MARKET: false,
  CODE_NOT_FOR_CUSTOMER: false,
  CODE_FIRST_ORDER_ONLY: false,
  CODE_USED_UP: false,
  CODE_CUSTOMER_LIMIT: false,
  CODE_NO_MATCHING_LINE: false,
  CODE_MINIMUM: false,
  CODE_NEEDS_DESTINATION: false,
  CODE_NOT_FOR_SHIPPING_METHOD: false,
  CODE_NOT_COMBINABLE: false,
  CODE_NO_EFFECT: false
} satisfies Record<CheckoutFinding['code'], boolean>

export const CHECKOUT_FINDING_CODES = Object.keys(BLOCKS) as CheckoutFinding['code'][]
export const isBlockingFinding = ({ code }: Pick<CheckoutFinding, 'code'>): boolean => BLOCKS[code]

export const newCheckoutFinding = (
  code: OwnFinding['code'],
  about: Partial<OwnFinding> = {}
): OwnFinding => ({
  code,
  message: MESSAGES[code],
  ...about
})
