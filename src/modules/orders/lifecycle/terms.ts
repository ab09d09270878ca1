/** When an order is paid: before fulfilment, later by invoice, or on delivery. */
export type PaymentTerms = 'prepaid' | 'on_account' | 'cod'

/** The payment provider and method that the buyer chose. */
export type OrderPaymentChoice = {
  readonly provider?: string | undefined
  readonly method?: string | undefined
}

/** A map, because an object would also answer `constructor`, and clients send any text as a method. */
const TERMS: ReadonlyMap<string, PaymentTerms> = new Map([
  ['cash_on_delivery', 'cod'],
  ['on_account', 'on_account']
])

/** The terms of a payment method. Methods that the map does not list are prepaid. */
export const paymentTermsOfMethod = (payment: OrderPaymentChoice | undefined): PaymentTerms =>
  TERMS.get(payment?.method ?? '') ?? 'prepaid'

/** Whether the buyer pays after the order is placed, as by bank transfer or on account. */
export const isDeferredPaymentMethod = (method: string | undefined): boolean =>
  method === 'bank_transfer' || TERMS.has(method ?? '')

/** Seconds that an unpaid order keeps its stock before it expires. */
export type UnpaidOrderTimeoutSeconds = {
  readonly usual: number
  readonly transfer: number
  /** Payment timeout in seconds of a bank transfer by a buyer with a verified email address. */
  readonly transferOfVerified: number
}

/**
 * Returns the payment timeout, in seconds, of an order with these open payment methods. Without any, an order
 * that was deferred keeps the timeout of a transfer, because its payment is created again when the amount due
 * changes.
 */
export const paymentTimeoutSecondsOf = (
  methods: readonly (string | undefined)[],
  { usual, transfer, transferOfVerified }: UnpaidOrderTimeoutSeconds,
  { isVerified, isDeferred: wasDeferred }: { readonly isVerified: boolean; readonly isDeferred: boolean }
): number => {
  const isByTransfer = methods.includes('bank_transfer') || (methods.length === 0 && wasDeferred)
  if (!isByTransfer) return usual
  return isVerified ? transferOfVerified : transfer
}

/** The first terms among these methods that are not prepaid, or `undefined`. */
export const firstDeferredTermsOfPaymentMethods = (methods: readonly string[]): PaymentTerms | undefined =>
  methods.map(method => paymentTermsOfMethod({ method })).find(terms => terms !== 'prepaid')
