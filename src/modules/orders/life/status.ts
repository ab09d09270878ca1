import { type LineCounters, left } from './counters.ts'

export type OrderState = 'pending' | 'placed' | 'completed' | 'canceled'
/** What payments say of the account of an order. */
export type PaymentStatus =
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
/** What shoppers are told. */
export type OrderStatus = 'pending' | 'paid' | 'shipped' | 'completed' | 'canceled'

const sum = (lines: readonly LineCounters[], of: (line: LineCounters) => number) =>
  lines.reduce((total, line) => total + of(line), 0)

/** How far the parcels are: what is not carried does not count. */
export function fulfillmentOf(lines: readonly LineCounters[]): FulfillmentStatus {
  const carried = lines.filter(({ requiresShipping }) => requiresShipping)
  if (carried.length === 0) return 'not_required'
  const fulfilled = sum(carried, line => line.fulfilled)
  const returned = sum(carried, line => line.returned)
  const isOpen = sum(carried, left.fulfil) > 0
  if (fulfilled === 0) return 'none'
  if (returned > 0) return returned === fulfilled && !isOpen ? 'returned' : 'partially_returned'
  return isOpen ? 'partial' : 'fulfilled'
}

const SECURED: readonly (PaymentStatus | null)[] = ['authorized', 'paid', 'partially_refunded', 'refunded']

/** Whether all that is due is held or taken. */
export const isSecured = (status: PaymentStatus | null): boolean =>
  status === 'authorized' || status === 'paid'

/** One word for all of it. Held money counts as paid, for whoever has paid has done their part. */
export function statusOf(
  state: OrderState,
  payment: PaymentStatus | null,
  fulfillment: FulfillmentStatus
): OrderStatus {
  if (state === 'canceled' || state === 'completed' || state === 'pending') return state
  if (fulfillment !== 'none' && fulfillment !== 'partial' && fulfillment !== 'not_required') return 'shipped'
  return SECURED.includes(payment) ? 'paid' : 'pending'
}
