import { defineError } from '../../kernel/errors.ts'

export const orderNotFound = defineError(
  'not_found',
  'PAYMENT_ORDER_NOT_FOUND',
  'There is no such order to be paid.'
)
export const paymentNotFound = defineError('not_found', 'PAYMENT_NOT_FOUND', 'There is no such payment.')
export const providerUnknown = defineError(
  'not_found',
  'PAYMENT_PROVIDER_UNKNOWN',
  'There is no such payment provider; "providers" lists those there are.'
)
export const methodUnknown = defineError(
  'invalid',
  'PAYMENT_METHOD_UNKNOWN',
  'The provider knows no such method; "methods" lists those it knows.',
  { fault: { path: 'body/method', message: 'must be a method of the provider' } }
)
export const currencyUnsupported = defineError(
  'conflict',
  'PAYMENT_CURRENCY_UNSUPPORTED',
  'The provider cannot be paid in the currency of the order; "providers" lists those who can.'
)
export const nothingDue = defineError(
  'conflict',
  'PAYMENT_NOTHING_DUE',
  'Nothing is left to be paid for this order.',
  { mayPass: true }
)
export const orderFrozen = defineError(
  'conflict',
  'PAYMENT_ORDER_FROZEN',
  'The order is being canceled or is canceled; it cannot be paid.',
  { mayPass: true }
)
export const operationOpen = defineError(
  'conflict',
  'PAYMENT_OPERATION_OPEN',
  'The provider has not answered yet what it was asked before; try again when it has.',
  { mayPass: true, constraints: ['payments.operations_one'] }
)
export const tooManyAttempts = defineError(
  'rate_limited',
  'PAYMENT_ATTEMPTS_LIMITED',
  'Too many payment attempts failed within the last hour; try again later, or pay in another way.'
)
export const captureTooMuch = defineError(
  'conflict',
  'PAYMENT_CAPTURE_TOO_MUCH',
  'That much is not held for this payment; "available" says how much is.'
)
export const refundTooMuch = defineError(
  'conflict',
  'PAYMENT_REFUND_TOO_MUCH',
  'That much was not taken, or is being given back already; "available" says how much can be refunded.'
)
export const refundLimit = defineError(
  'forbidden',
  'PAYMENT_REFUND_LIMIT',
  'API keys refund at most "limit" of an order. An administrator who is logged in refunds more.',
  { mayPass: true }
)
export const notVoidable = defineError(
  'conflict',
  'PAYMENT_NOT_VOIDABLE',
  'The payment is over; what was taken can be refunded.'
)
export const callbackRefused = defineError(
  'invalid',
  'PAYMENT_CALLBACK_REFUSED',
  'The signature of this callback is missing, wrong, or too old.'
)
export const paymentEventNotFound = defineError(
  'not_found',
  'PAYMENT_EVENT_NOT_FOUND',
  'There is no such event that waits for a decision.'
)
