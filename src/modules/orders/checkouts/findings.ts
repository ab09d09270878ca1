import type { Finding as QuoteFinding } from '../../pricing/index.ts'

/** What a shopper should know of a checkout, or has to do before anything can be bought. */
export type Finding = QuoteFinding | OwnFinding

type OwnFinding = {
  readonly code: keyof typeof MESSAGES
  readonly message: string
  readonly variantId?: string
  readonly available?: number
  readonly rule?: { readonly min: number; readonly max: number; readonly step: number }
  readonly field?: string
}

const MESSAGES = {
  VARIANT_UNAVAILABLE: 'This is not for sale any more.',
  VARIANT_NOT_IN_MARKET: 'This is not sold in this country or currency.',
  QUANTITY_RULE: 'This is sold in other quantities.',
  STOCK_SHORT: 'There is not enough of this.',
  CART_CHANGED: 'The cart has changed since.',
  PRICE_CHANGED: 'The price has changed since.',
  MARKET_GONE:
    'Nothing is sold any more where this was to be bought; these are the prices of another market.',
  MARKET_DESTINATION:
    'The chosen market does not deliver to this country; these are the prices of the market that does.',
  EMAIL_MISSING: 'An e-mail address is needed.',
  EMAIL_INVALID: 'This is not an e-mail address.',
  ADDRESS_MISSING: 'It is not known yet where this goes.',
  ADDRESS_INVALID: 'The address is not complete.',
  DELIVERY_NOT_INCLUDED: 'Delivery is not part of this price.'
}

/** Whether nothing can be bought until it is gone. */
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
} satisfies Record<Finding['code'], boolean>

export const FINDING_CODES = Object.keys(BLOCKS) as Finding['code'][]
export const isBlocking = ({ code }: Pick<Finding, 'code'>): boolean => BLOCKS[code]

export const finding = (code: OwnFinding['code'], about: Partial<OwnFinding> = {}): OwnFinding => ({
  code,
  message: MESSAGES[code],
  ...about
})
