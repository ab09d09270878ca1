import { defineError } from '../../kernel/errors.ts'

export const payableOrderNotFoundError = defineError(
  'not_found',
  'PAYMENT_ORDER_NOT_FOUND',
  'No order with this id can be paid, or it is not yours. Check the id or the order token.'
)
export const paymentNotFoundError = defineError(
  'not_found',
  'PAYMENT_NOT_FOUND',
  'The payment does not exist. Check its id.'
)
export const paymentProviderUnknownError = defineError(
  'not_found',
  'PAYMENT_PROVIDER_UNKNOWN',
  'The payment provider does not exist. Choose one of "providers".'
)
export const paymentMethodUnknownError = defineError(
  'invalid',
  'PAYMENT_METHOD_UNKNOWN',
  'The provider does not support this method. Choose one of "methods".',
  { fault: { path: 'body/method', message: 'must be a method of the provider' } }
)
export const paymentCurrencyUnsupportedError = defineError(
  'conflict',
  'PAYMENT_CURRENCY_UNSUPPORTED',
  'The provider does not support the currency of the order. Choose one of "providers".'
)
export const nothingDueForOrderError = defineError(
  'conflict',
  'PAYMENT_NOTHING_DUE',
  'Nothing is due for this order: it is paid, or an open payment covers it.',
  { mayPass: true }
)
export const canceledOrderNotPayableError = defineError(
  'conflict',
  'PAYMENT_ORDER_FROZEN',
  'The order is canceled or being canceled, so it cannot be paid.',
  { mayPass: true }
)
export const paymentOperationStillOpenError = defineError(
  'conflict',
  'PAYMENT_OPERATION_OPEN',
  'An earlier operation of the payment has no result yet. Try again later.',
  { mayPass: true, constraints: ['payments.operations_one'] }
)
export const tooManyPaymentAttemptsError = defineError(
  'rate_limited',
  'PAYMENT_ATTEMPTS_LIMITED',
  'Too many payment attempts failed within the last hour. Try again later, or use another payment method.'
)
export const captureAmountTooHighError = defineError(
  'conflict',
  'PAYMENT_CAPTURE_TOO_MUCH',
  'The amount exceeds what can be captured. Capture at most "available".'
)
export const partialCaptureUnsupportedError = defineError(
  'conflict',
  'PAYMENT_CAPTURE_WHOLE_ONLY',
  'The provider captures this payment only as a whole. Capture "available" and refund the difference, or void the payment.'
)
export const refundAmountTooHighError = defineError(
  'conflict',
  'PAYMENT_REFUND_TOO_MUCH',
  'The amount exceeds what can be refunded. Refund at most "available".'
)
export const paymentProviderRemovedError = defineError(
  'conflict',
  'PAYMENT_PROVIDER_REMOVED',
  'No enabled module provides the "provider" of the payment, so it cannot refund. Enable it again with payments.retired_providers, or refund outside the shop.',
  { mayPass: true }
)
export const apiKeyRefundLimitExceededError = defineError(
  'forbidden',
  'PAYMENT_REFUND_LIMIT',
  'The amount exceeds what API keys can refund of an order ("limit"). Log in as an administrator to refund more.',
  { mayPass: true }
)
export const paymentNotVoidableError = defineError(
  'conflict',
  'PAYMENT_NOT_VOIDABLE',
  'The payment is closed and cannot be voided. Refund what was captured.'
)
export const callbackSignatureInvalidError = defineError(
  'invalid',
  'PAYMENT_CALLBACK_REFUSED',
  'The signature of the callback is missing, wrong or too old. Check the webhook secret and the clock.'
)
export const quarantinedPaymentEventNotFoundError = defineError(
  'not_found',
  'PAYMENT_EVENT_NOT_FOUND',
  'No event with this id is in quarantine.'
)
