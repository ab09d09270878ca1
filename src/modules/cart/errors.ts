import { defineError } from '../../kernel/errors.ts'

export const cartItemNotFound = defineError(
  'not_found',
  'CART_ITEM_NOT_FOUND',
  'This variant is not in the cart.'
)
export const variantUnavailable = defineError(
  'conflict',
  'CART_VARIANT_UNAVAILABLE',
  'This variant is not for sale at present.'
)
export const insufficientStock = defineError(
  'conflict',
  'CART_INSUFFICIENT_STOCK',
  'There is not enough stock; "available" says how much there is.'
)
export const quantityLimitExceeded = defineError(
  'conflict',
  'CART_QUANTITY_LIMIT',
  'The quantity of one line is limited; "limit" says to how much.'
)
export const quantityRuleBroken = defineError(
  'conflict',
  'CART_QUANTITY_RULE',
  'This variant is sold from "quantity_min" to "quantity_max", in multiples of "quantity_step".'
)
export const lineLimitExceeded = defineError(
  'conflict',
  'CART_LINE_LIMIT',
  'The number of different variants in a cart is limited; "limit" says to how many.'
)
export const cartStale = defineError(
  'stale',
  'CART_VERSION_STALE',
  'The cart has changed since; read it again, "version" is the present one.'
)
export const cartChanged = defineError(
  'conflict',
  'CART_CHANGED',
  'The cart has changed since it was to be ordered; read it again.',
  { mayPass: true }
)
export const guestCartNotFound = defineError(
  'not_found',
  'CART_GUEST_NOT_FOUND',
  'There is no guest cart for this token: it is unknown, expired, or used.'
)
