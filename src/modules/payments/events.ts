import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { amount, Currency, Id } from '../../kernel/wire.ts'

const subject = 'the order'
const unversioned = 'Payments have no version. Their amounts are totals.'
const order = { order_id: Id, currency: Currency }

/** `payments.authorized`: the amount due for an order is authorized. */
export const paymentAuthorizedEvent = defineEvent(
  'payments.authorized',
  {
    description: 'The amount due for an order is authorized and not captured yet.',
    subject,
    webhook: 'all',
    unversioned
  },
  { ...order, authorized: amount('Authorized'), due: amount('Amount due for the order') }
)
/** `payments.paid`: a payment of an order was captured. */
export const paymentPaidEvent = defineEvent(
  'payments.paid',
  {
    description: 'A payment of an order was captured: the amount due, a part of it, or more.',
    subject,
    webhook: 'all',
    unversioned
  },
  {
    ...order,
    amount: amount('Captured now'),
    captured: amount('Captured in total'),
    due: amount('Amount due for the order'),
    is_paid: Type.Boolean({ description: 'Whether the amount due is captured.' }),
    is_overpaid: Type.Boolean({ description: 'Whether more than the amount due is captured.' })
  }
)
/** `payments.authorization_expiring`: an authorization expires within a day. */
export const authorizationExpiringEvent = defineEvent(
  'payments.authorization_expiring',
  {
    description: 'An authorization of an order that is not captured expires within a day.',
    subject,
    webhook: 'all',
    unversioned
  },
  {
    ...order,
    payment_id: Id,
    authorized: amount('Authorized'),
    expires_at: Type.String({ format: 'date-time' }),
    is_captured: Type.Boolean({ description: 'Whether the shop captures the payment for this reason.' })
  }
)
/** `payments.failed`: an attempt to pay was declined. */
export const paymentFailedEvent = defineEvent(
  'payments.failed',
  {
    description: 'An attempt to pay was declined. The buyer may try again.',
    subject,
    webhook: 'all',
    unversioned
  },
  { ...order, payment_id: Id, provider: Type.String(), amount: amount('Amount of the payment') }
)
/** `payments.refunded`: a payment was refunded, in full or in part. */
export const paymentRefundedEvent = defineEvent(
  'payments.refunded',
  {
    description: 'A payment of an order was refunded, in full or in part.',
    subject,
    webhook: 'all',
    unversioned
  },
  { ...order, amount: amount('Refunded now'), refunded: amount('Refunded in total') }
)
/** `payments.refund_failed`: a refund that had succeeded failed later. */
export const refundFailedEvent = defineEvent(
  'payments.refund_failed',
  {
    description: 'A refund that had succeeded failed later: the bank of the buyer returned the money.',
    subject,
    webhook: 'all',
    unversioned
  },
  {
    ...order,
    amount: amount('Amount of the failed refund'),
    refunded: amount('Refunded in total after the failure')
  }
)
/** `payments.disputed`: the buyer disputed a payment through their bank. */
export const paymentDisputedEvent = defineEvent(
  'payments.disputed',
  {
    description: 'The buyer disputed a payment of an order through their bank.',
    subject,
    webhook: 'all',
    unversioned
  },
  { ...order, amount: amount('Disputed now'), disputed: amount('Disputed in total') }
)
export const paymentEvents = [
  paymentAuthorizedEvent,
  authorizationExpiringEvent,
  paymentPaidEvent,
  paymentFailedEvent,
  paymentRefundedEvent,
  refundFailedEvent,
  paymentDisputedEvent
]
