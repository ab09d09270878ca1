import type { EventType } from '../../../kernel/events.ts'
import type { Static, TSchema } from '../../../kernel/schema.ts'
import {
  paymentAuthorized,
  paymentDisputed,
  paymentFailed,
  paymentPaid,
  paymentRefunded,
  refundFailed
} from '../events.ts'
import { type AccountState, type PaymentStatus, returnedOf } from './reducer.ts'

type Order = { readonly order_id: string; readonly currency: string; readonly due: number }
type Before = Pick<AccountState, 'status' | 'captured' | 'refunded' | 'disputed'>
type Judged = {
  readonly id: string
  readonly provider: string
  readonly amount: number
  readonly before: PaymentStatus
  readonly status: PaymentStatus
}
export type Tell = <P extends TSchema>(event: EventType<string, P>, payload: Static<P>) => void

/** Tells what has become of an order's payments that was not so before: each change once, whoever said it. */
export function tellNews(
  tell: Tell,
  { order_id, currency, due }: Order,
  before: Before,
  now: AccountState,
  payments: readonly Judged[]
): void {
  const order = { order_id, currency }
  for (const { id, provider, amount } of payments.filter(failedNow))
    tell(paymentFailed, { ...order, payment_id: id, provider, amount })
  if (now.status === 'authorized' && before.status !== 'authorized')
    tell(paymentAuthorized, { ...order, authorized: now.authorized, due })
  const { captured, disputed } = now
  const [hadReturned, refunded] = [returnedOf(before), returnedOf(now)]
  if (captured > before.captured)
    tell(paymentPaid, {
      ...{ ...order, amount: captured - before.captured, captured, due },
      ...{ is_paid: captured >= due, is_overpaid: now.isOverpaid }
    })
  if (refunded > hadReturned) tell(paymentRefunded, { ...order, amount: refunded - hadReturned, refunded })
  if (refunded < hadReturned) tell(refundFailed, { ...order, amount: hadReturned - refunded, refunded })
  if (disputed > before.disputed)
    tell(paymentDisputed, { ...order, amount: disputed - before.disputed, disputed })
}

const failedNow = ({ before, status }: Judged) => status === 'failed' && before !== 'failed'
