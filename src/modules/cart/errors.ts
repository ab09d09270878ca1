import { defineError } from '../../kernel/errors.ts'

export const variantNotInCartError = defineError(
  'not_found',
  'CART_ITEM_NOT_FOUND',
  'This variant is not in the cart. Add it first.'
)
export const cartLineNotFoundError = defineError(
  'not_found',
  'CART_LINE_NOT_FOUND',
  'The cart has no line with this id. Read the cart to see its lines.'
)
export const cartLineAmbiguousError = defineError(
  'conflict',
  'CART_LINE_AMBIGUOUS',
  'The cart has several lines of this variant. Use `/api/cart/lines/{line_id}`, or `/api/guest-cart/lines/{line_id}` in a guest cart.'
)
export const variantUnavailableError = defineError(
  'conflict',
  'CART_VARIANT_UNAVAILABLE',
  'This variant is not for sale in this market. Remove it from the request.'
)
export const insufficientStockError = defineError(
  'conflict',
  'CART_INSUFFICIENT_STOCK',
  'There is not enough stock. The lines of this variant can have at most the quantity in `available`.'
)
export const quantityLimitExceededError = defineError(
  'conflict',
  'CART_QUANTITY_LIMIT',
  'The quantity of a variant in a cart is limited. Its lines can have at most the quantity in `limit`.'
)
export const quantityRuleBrokenError = defineError(
  'conflict',
  'CART_QUANTITY_RULE',
  'This variant is sold from `quantity_min` to `quantity_max`, in multiples of `quantity_step`. Choose such a quantity.'
)
export const cartLineLimitExceededError = defineError(
  'conflict',
  'CART_LINE_LIMIT',
  'The number of lines in a cart is limited to `limit`. Remove one first.'
)
export const cartStaleError = defineError(
  'stale',
  'CART_VERSION_STALE',
  'The cart has changed since it was read. Read it again: `version` is its present version.'
)
export const cartChangedDuringOrderError = defineError(
  'conflict',
  'CART_CHANGED',
  'The cart has changed since the order was started. Read it again.',
  { mayPass: true }
)
export const guestCartNotFoundError = defineError(
  'not_found',
  'CART_GUEST_NOT_FOUND',
  'No guest cart has this token: it is unknown, expired, or merged. Add an item without a token to create a cart.'
)
