import { defineError } from '../../kernel/errors.ts'

export const checkoutNotFoundError = defineError(
  'not_found',
  'CHECKOUT_NOT_FOUND',
  'The checkout does not exist.'
)
export const checkoutStaleError = defineError(
  'stale',
  'CHECKOUT_STALE',
  'The checkout was changed meanwhile. Read it again.'
)
export const checkoutExpiredError = defineError(
  'conflict',
  'CHECKOUT_EXPIRED',
  'The checkout has expired. Create a new one with its fields.'
)
export const checkoutCanceledError = defineError(
  'conflict',
  'CHECKOUT_CANCELED',
  'The checkout was canceled. Create a new one with its fields.'
)
export const checkoutCompletedError = defineError(
  'conflict',
  'CHECKOUT_COMPLETED',
  'The checkout was completed. Read the order in "order_id".',
  { constraints: ['orders.orders_of_checkout'] }
)
export const checkoutChangedDuringOrderError = defineError(
  'conflict',
  'CHECKOUT_CHANGED',
  'The checkout was changed while the order was created. Read it again.',
  { mayPass: true }
)
export const countryNotFoundError = defineError(
  'not_found',
  'COUNTRY_NOT_FOUND',
  'The country does not exist. Send an ISO 3166-1 code.'
)
export const checkoutItemsAmbiguousError = defineError(
  'invalid',
  'CHECKOUT_SOURCE_UNCLEAR',
  'A checkout needs either a cart or items. See "errors" for what to send.'
)
export const tooManyUnknownCodesError = defineError(
  'rate_limited',
  'CHECKOUT_CODES_LIMITED',
  'Too many unknown promotion codes were sent. Wait, or omit the codes.'
)
export const cartEmptyError = defineError('conflict', 'CART_EMPTY', 'The cart is empty.', {
  mayPass: true
})
export const cartsDisabledError = defineError(
  'conflict',
  'CHECKOUT_CARTS_OFF',
  'Carts are disabled (modules.cart.enabled). Send items.'
)
export const orderLineUnknownError = defineError(
  'invalid',
  'ORDER_LINE_UNKNOWN',
  'The order does not have the lines in "lines".',
  { fault: { path: 'body/lines', message: 'must be lines of the order' } }
)
export const lineUnitsInsufficientError = defineError(
  'conflict',
  'ORDER_UNITS_SHORT',
  'A line has fewer units that this action applies to. See "items" for how many.'
)
export const orderNotFoundError = defineError('not_found', 'ORDER_NOT_FOUND', 'The order does not exist.')
export const orderRequestInvalidError = defineError(
  'invalid',
  'ORDER_REQUEST_INVALID',
  'A module passed an invalid request for an order. See "errors" for the fields.'
)
export const orderWriteRepeatedConcurrentlyError = defineError(
  'conflict',
  'ORDER_WRITE_REPEATED',
  'Another attempt of this write is creating the same order or checkout. Read it, or repeat the write.',
  { constraints: ['orders.orders_pkey', 'orders.checkouts_pkey'], mayPass: true }
)
export const orderIncompleteError = defineError(
  'invalid',
  'ORDER_INCOMPLETE',
  'The order is incomplete. See "errors" for missing or invalid fields.'
)
export const orderItemsUnavailableError = defineError(
  'conflict',
  'ORDER_ITEMS_UNAVAILABLE',
  'Some items cannot be bought. See "items" for which, and why.',
  { mayPass: true }
)
export const marketDoesNotDeliverError = defineError(
  'conflict',
  'ORDER_MARKET_DESTINATION',
  'The named market does not deliver to this country. Use the market in "market".',
  { mayPass: true }
)
export const shippingNotAvailableError = defineError(
  'conflict',
  'SHIPPING_NOT_AVAILABLE',
  'The shipping option does not deliver to this address. Choose one of "options".',
  { mayPass: true }
)
export const promotionCodesWithoutEffectError = defineError(
  'conflict',
  'ORDER_CODE_REFUSED',
  'Some promotion codes have no effect; see "findings". Omit them, or send the total as expected_total.',
  { mayPass: true }
)
export const orderPriceChangedError = defineError(
  'conflict',
  'ORDER_PRICE_CHANGED',
  'The price differs from the agreed one. Show the price in "quote", and send its total as expected_total.',
  { mayPass: true }
)
export const orderNotAllowedError = defineError(
  'conflict',
  'ORDER_NOT_ALLOWED',
  'A check of this shop does not allow the order. See "findings" for what to change.',
  { mayPass: true }
)
export const orderCheckUnavailableError = defineError(
  'unavailable',
  'ORDER_CHECK_UNAVAILABLE',
  'A check that this order needs did not answer, so nothing was ordered. Try again.'
)
export const tooManyPendingOrdersError = defineError(
  'conflict',
  'ORDER_PENDING_LIMIT',
  'Too many orders wait for payment. Pay or cancel one of them first. "limit" is the maximum.',
  { mayPass: true }
)
export const unpaidStockLimitExceededError = defineError(
  'conflict',
  'ORDER_UNPAID_STOCK_LIMIT',
  'Unpaid orders would reserve too much stock. Order fewer units, pay or cancel an open order, or pay by card.',
  { mayPass: true }
)
export const ordersStillOpenError = defineError(
  'conflict',
  'ORDER_STILL_OPEN',
  'Some orders are still open and need their addresses. Complete or cancel those in "numbers".'
)
export const guestSelectionAmbiguousError = defineError(
  'invalid',
  'ORDER_GUEST_DATA_UNCLEAR',
  'Guests are selected by an order or by an email address. Send either `order_id` or `email`.'
)
export const dataRequestLinkInvalidError = defineError(
  'invalid',
  'ORDER_DATA_REQUEST_INVALID',
  'The link is not valid: it has expired, was used, or was changed. Request a new one.'
)
export const orderBelongsToAccountError = defineError(
  'conflict',
  'ORDER_HAS_ACCOUNT',
  'The order belongs to an account. Export or erase the account instead.'
)
export const orderShipmentNotFoundError = defineError(
  'not_found',
  'ORDER_SHIPMENT_NOT_FOUND',
  'The order has no such shipment.'
)
export const orderStaleError = defineError(
  'stale',
  'ORDER_STALE',
  'The order was changed meanwhile. Read it again.'
)
export const orderNotCancelableError = defineError(
  'conflict',
  'ORDER_NOT_CANCELABLE',
  'The order cannot be canceled. See "reason".'
)
export const orderActionRefusedError = defineError(
  'conflict',
  'ORDER_ACTION_REFUSED',
  'The order does not allow this action now. See "reason".'
)
export const creditExceedsOrderError = defineError(
  'conflict',
  'ORDER_CREDIT_TOO_MUCH',
  'The amount exceeds what is left of the order. Credit at most "available".'
)
export const orderCreditInputAmbiguousError = defineError(
  'invalid',
  'ORDER_CREDIT_UNCLEAR',
  'Send either lines or an amount.',
  { fault: { path: 'body', message: 'must have lines or an amount, and not both' } }
)
export const tenderTypeUnknownError = defineError(
  'invalid',
  'ORDER_TENDER_TYPE_UNKNOWN',
  'The shop accepts no tender of this type. Send one of "types".'
)
export const tenderCoversTooLittleError = defineError(
  'conflict',
  'ORDER_TENDER_SHORT',
  'A tender covers less than it must. Lower its `amount` to "available", or omit the tender.'
)
export const tenderProviderMissingError = defineError(
  'unavailable',
  'ORDER_TENDER_PROVIDER_MISSING',
  'No enabled module provides tenders of this type, so they cannot be refunded. Enable the module again.'
)
