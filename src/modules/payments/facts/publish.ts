import type { EventType } from '../../../kernel/events.ts'
import type { Static, TSchema } from '../../../kernel/schema.ts'
import {
  paymentAuthorizedEvent,
  paymentDisputedEvent,
  paymentFailedEvent,
  paymentPaidEvent,
  paymentRefundedEvent,
  refundFailedEvent
} from '../events.ts'
import { type OrderPaymentAccountState, type PaymentStatus, refundedUpToCaptured } from './reducer.ts'

type PublishedOrder = { readonly order_id: string; readonly currency: string; readonly due: number }
type PreviousState = Pick<OrderPaymentAccountState, 'status' | 'captured' | 'refunded' | 'disputed'>
type PaymentTransition = {
  readonly id: string
  readonly provider: string
  readonly amount: number
  readonly before: PaymentStatus
  readonly status: PaymentStatus
}
export type PublishPaymentEvent = <P extends TSchema>(event: EventType<string, P>, payload: Static<P>) => void

/** Publishes an event for each change of the payment state of an order. Facts that change nothing publish nothing. */
export function publishPaymentEvents(
  publish: PublishPaymentEvent,
  { order_id, currency, due }: PublishedOrder,
  before: PreviousState,
  now: OrderPaymentAccountState,
  payments: readonly PaymentTransition[]
): void {
  const order = { order_id, currency }
  for (const { id, provider, amount } of payments.filter(hasJustFailed))
    publish(paymentFailedEvent, { ...order, payment_id: id, provider, amount })
  if (now.status === 'authorized' && before.status !== 'authorized')
    publish(paymentAuthorizedEvent, { ...order, authorized: now.authorized, due })
  const { captured, disputed } = now
  const [refundedBefore, refunded] = [refundedUpToCaptured(before), refundedUpToCaptured(now)]
  if (captured > before.captured)
    publish(paymentPaidEvent, {
      ...order,
      amount: captured - before.captured,
      captured,
      due,
      is_paid: captured >= due,
      is_overpaid: now.isOverpaid
    })
  if (refunded > refundedBefore)
    publish(paymentRefundedEvent, { ...order, amount: refunded - refundedBefore, refunded })
  if (refunded < refundedBefore)
    publish(refundFailedEvent, { ...order, amount: refundedBefore - refunded, refunded })
  if (disputed > before.disputed)
    publish(paymentDisputedEvent, { ...order, amount: disputed - before.disputed, disputed })
}

const hasJustFailed = ({ before, status }: PaymentTransition) => status === 'failed' && before !== 'failed'
