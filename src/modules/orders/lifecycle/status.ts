import { sumBy } from '../../../kernel/sum-by.ts'
import { type OrderLineCounters, remainingOrderLineUnitsByAction } from './counters.ts'

export type OrderLifecycleState = 'pending' | 'placed' | 'completed' | 'canceled'
/** Status of the money of an order, as the payments module reports it. */
export type OrderPaymentStatus =
  | 'unpaid'
  | 'authorized'
  | 'partially_paid'
  | 'paid'
  | 'partially_refunded'
  | 'refunded'
export type FulfillmentStatus =
  | 'none'
  | 'partial'
  | 'fulfilled'
  | 'partially_returned'
  | 'returned'
  | 'not_required'
/** Status of an order for buyers: a summary of state, payment and fulfilment. */
export type OrderStatus = 'pending' | 'paid' | 'shipped' | 'completed' | 'canceled'

/** The fulfilment status of the lines that need shipping. Digital lines do not count. */
export function fulfillmentStatusOf(lines: readonly OrderLineCounters[]): FulfillmentStatus {
  const shippable = lines.filter(({ requiresShipping }) => requiresShipping)
  if (shippable.length === 0) return 'not_required'
  const fulfilled = sumBy(shippable, line => line.fulfilled)
  const returned = sumBy(shippable, line => line.returned)
  const isOpen = sumBy(shippable, remainingOrderLineUnitsByAction.fulfil) > 0
  if (fulfilled === 0) return 'none'
  if (returned > 0) return returned === fulfilled && !isOpen ? 'returned' : 'partially_returned'
  return isOpen ? 'partial' : 'fulfilled'
}

const SECURED: readonly (OrderPaymentStatus | null)[] = [
  'authorized',
  'paid',
  'partially_refunded',
  'refunded'
]

/** Whether the amount due is authorized or captured. */
export const isPaymentSecured = (status: OrderPaymentStatus | null): boolean =>
  status === 'authorized' || status === 'paid'

/** The status for buyers. An authorized payment counts as paid, because the buyer has nothing left to do. */
export function orderStatusOf(
  state: OrderLifecycleState,
  payment: OrderPaymentStatus | null,
  fulfillment: FulfillmentStatus
): OrderStatus {
  if (state === 'canceled' || state === 'completed' || state === 'pending') return state
  if (fulfillment !== 'none' && fulfillment !== 'partial' && fulfillment !== 'not_required') return 'shipped'
  return SECURED.includes(payment) ? 'paid' : 'pending'
}
