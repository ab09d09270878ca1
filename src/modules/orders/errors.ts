import { defineError } from '../../kernel/errors.ts'

export const checkoutNotFound = defineError('not_found', 'CHECKOUT_NOT_FOUND', 'There is no such checkout.')
export const checkoutStale = defineError(
  'stale',
  'CHECKOUT_STALE',
  'The checkout was changed in the meantime; read it again.'
)
export const checkoutExpired = defineError(
  'conflict',
  'CHECKOUT_EXPIRED',
  'The checkout has expired; make a new one with what it says.'
)
export const checkoutCanceled = defineError(
  'conflict',
  'CHECKOUT_CANCELED',
  'The checkout was canceled; make a new one with what it says.'
)
export const checkoutCompleted = defineError(
  'conflict',
  'CHECKOUT_COMPLETED',
  'The checkout is ordered; "order_id" says which order it is.',
  { constraints: ['orders.orders_of_checkout'] }
)
export const checkoutChanged = defineError(
  'conflict',
  'CHECKOUT_CHANGED',
  'The checkout was changed while it was ordered; read it again.',
  { mayPass: true }
)
export const countryNotFound = defineError('not_found', 'COUNTRY_NOT_FOUND', 'There is no such country.')
export const sourceUnclear = defineError(
  'invalid',
  'CHECKOUT_SOURCE_UNCLEAR',
  'A checkout is of a cart or of items; "errors" says what to send.'
)
export const tooManyCodes = defineError(
  'rate_limited',
  'CHECKOUT_CODES_LIMITED',
  'Too many codes that nobody knows; wait a moment, or leave them out.'
)
export const cartEmpty = defineError('conflict', 'CART_EMPTY', 'There is nothing in the cart.', {
  mayPass: true
})
export const cartsOff = defineError(
  'conflict',
  'CHECKOUT_CARTS_OFF',
  'Carts are switched off (modules.cart.enabled); send items.'
)
export const lineUnknown = defineError(
  'invalid',
  'ORDER_LINE_UNKNOWN',
  'The order has no such line; "lines" says which.',
  { fault: { path: 'body/lines', message: 'must be lines of the order' } }
)
export const unitsShort = defineError(
  'conflict',
  'ORDER_UNITS_SHORT',
  'That cannot be done to so many of a line; "items" says to how many it can.'
)
export const orderNotFound = defineError('not_found', 'ORDER_NOT_FOUND', 'There is no such order.')
export const orderIncomplete = defineError(
  'invalid',
  'ORDER_INCOMPLETE',
  'It cannot be ordered like this; "errors" says what is missing or wrong.'
)
export const itemsUnavailable = defineError(
  'conflict',
  'ORDER_ITEMS_UNAVAILABLE',
  'Some items cannot be bought like this; "items" says which, and why.',
  { mayPass: true }
)
export const marketDestination = defineError(
  'conflict',
  'ORDER_MARKET_DESTINATION',
  'The named market does not deliver to this country; "market" is the one that does.',
  { mayPass: true }
)
export const shippingNotAvailable = defineError(
  'conflict',
  'SHIPPING_NOT_AVAILABLE',
  'It is not sent there, or not in the way that was chosen; "options" says how it can be had.',
  { mayPass: true }
)
export const codeRefused = defineError(
  'conflict',
  'ORDER_CODE_REFUSED',
  'Some codes take nothing off; "findings" says why. Leave them out, or send the total as expected_total.',
  { mayPass: true }
)
export const priceChanged = defineError(
  'conflict',
  'ORDER_PRICE_CHANGED',
  'It costs something else than what was agreed to; "quote" says what. Send its total as expected_total.',
  { mayPass: true }
)
export const tooManyPending = defineError(
  'conflict',
  'ORDER_PENDING_LIMIT',
  'Too many orders wait for their payment; pay or cancel one of them first. "limit" says how many may.',
  { mayPass: true }
)
export const unpaidStockLimit = defineError(
  'conflict',
  'ORDER_UNPAID_STOCK_LIMIT',
  'Unpaid orders would reserve too much stock. Order fewer units, pay or cancel an open order, or pay by card.',
  { mayPass: true }
)
export const ordersOpen = defineError(
  'conflict',
  'ORDER_STILL_OPEN',
  'Some orders are still open, and need their addresses; "numbers" says which.'
)
export const guestDataUnclear = defineError(
  'invalid',
  'ORDER_GUEST_DATA_UNCLEAR',
  'Guests are selected by an order or by an e-mail address; send one of `order_id` and `email`.'
)
export const dataRequestInvalid = defineError(
  'invalid',
  'ORDER_DATA_REQUEST_INVALID',
  'The link is not valid: it has expired, was used, or was changed. Request a new one.'
)
export const orderHasAccount = defineError(
  'conflict',
  'ORDER_HAS_ACCOUNT',
  'The order belongs to an account. Export or erase the account instead.'
)
export const shipmentNotFound = defineError(
  'not_found',
  'ORDER_SHIPMENT_NOT_FOUND',
  'The order has no such shipment.'
)
export const orderStale = defineError(
  'stale',
  'ORDER_STALE',
  'The order was changed in the meantime; read it again.'
)
export const notCancelable = defineError(
  'conflict',
  'ORDER_NOT_CANCELABLE',
  'The order cannot be canceled; "reason" says why.'
)
export const actionRefused = defineError(
  'conflict',
  'ORDER_ACTION_REFUSED',
  'That cannot be done to the order as it is; "reason" says why.'
)
export const creditTooMuch = defineError(
  'conflict',
  'ORDER_CREDIT_TOO_MUCH',
  'So much is not left of the order; "available" says how much is.'
)
export const creditUnclear = defineError(
  'invalid',
  'ORDER_CREDIT_UNCLEAR',
  'Either lines are paid back or an amount; send one of the two.',
  { fault: { path: 'body', message: 'must have lines or an amount, and not both' } }
)
