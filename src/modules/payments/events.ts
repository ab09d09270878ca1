import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { amount, Currency, Id } from '../../kernel/wire.ts'

const subject = 'the order'
const order = { order_id: Id, currency: Currency }

/** `payments.authorized`: all that is due for an order is held. */
export const paymentAuthorized = defineEvent(
  'payments.authorized',
  { description: 'All that is due for an order is held, and not yet taken.', subject, outside: 'each' },
  { ...order, authorized: amount('Held'), due: amount('To be paid for the order') }
)
/** `payments.paid`: money was taken for an order. */
export const paymentPaid = defineEvent(
  'payments.paid',
  {
    description: 'Money was taken for an order: all that is due, a part, or more.',
    subject,
    outside: 'each'
  },
  {
    ...order,
    amount: amount('Taken this time'),
    captured: amount('Taken so far'),
    due: amount('To be paid for the order'),
    is_paid: Type.Boolean({ description: 'All that is due was taken.' }),
    is_overpaid: Type.Boolean({ description: 'More was taken than is due.' })
  }
)
/** `payments.authorization_expiring`: what is held for an order runs out soon. */
export const authorizationExpiring = defineEvent(
  'payments.authorization_expiring',
  {
    description: 'What is held for an order, and not yet taken, runs out within a day.',
    subject,
    outside: 'each'
  },
  {
    ...order,
    payment_id: Id,
    authorized: amount('Held'),
    expires_at: Type.String({ format: 'date-time' }),
    is_captured: Type.Boolean({ description: 'It is being taken for that.' })
  }
)
/** `payments.failed`: a try to pay was refused. */
export const paymentFailed = defineEvent(
  'payments.failed',
  { description: 'A try to pay was refused; another one may follow.', subject, outside: 'each' },
  { ...order, payment_id: Id, provider: Type.String(), amount: amount('What it is to pay') }
)
/** `payments.refunded`: money went back to whoever had paid. */
export const paymentRefunded = defineEvent(
  'payments.refunded',
  {
    description: 'Some of what was taken for an order went back to whoever had paid.',
    subject,
    outside: 'each'
  },
  { ...order, amount: amount('Given back this time'), refunded: amount('Given back so far') }
)
/** `payments.refund_failed`: money that had gone back did not arrive. */
export const refundFailed = defineEvent(
  'payments.refund_failed',
  {
    description: 'What had gone back to whoever had paid came back, or never arrived.',
    subject,
    outside: 'each'
  },
  { ...order, amount: amount('What came back'), refunded: amount('Still given back') }
)
/** `payments.disputed`: whoever had paid wants money back by way of their bank. */
export const paymentDisputed = defineEvent(
  'payments.disputed',
  { description: 'Whoever had paid wants money back by way of their bank.', subject, outside: 'each' },
  { ...order, amount: amount('Wanted back this time'), disputed: amount('Wanted back in all') }
)
export const paymentEvents = [
  paymentAuthorized,
  authorizationExpiring,
  paymentPaid,
  paymentFailed,
  paymentRefunded,
  refundFailed,
  paymentDisputed
]
