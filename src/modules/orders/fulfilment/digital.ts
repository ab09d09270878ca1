import { findOrderActionRefusalReason, type OrderLifecycleFacts } from '../lifecycle/actions.ts'
import { type OrderLineQuantity, remainingOrderLineUnitsByAction } from '../lifecycle/counters.ts'
import type { OrderPaymentStatus } from '../lifecycle/status.ts'
import type { PaymentTerms } from '../lifecycle/terms.ts'

/** Statuses with captured money. An authorization is not enough, because it may never be captured. */
const PAID: readonly (OrderPaymentStatus | null)[] = ['paid', 'partially_refunded']

/**
 * Returns the digital units that the shop delivers automatically now: once they are paid, or the order is on
 * account.
 */
export function deliverableDigitalUnits(
  lifecycle: OrderLifecycleFacts,
  terms: PaymentTerms
): OrderLineQuantity[] {
  if (findOrderActionRefusalReason('fulfil', lifecycle, 'system', 'never') !== undefined) return []
  if (terms !== 'on_account' && !PAID.includes(lifecycle.paymentStatus)) return []
  return lifecycle.lines
    .filter(line => !line.requiresShipping && remainingOrderLineUnitsByAction.fulfil(line) > 0)
    .map(line => ({ line: line.line, quantity: remainingOrderLineUnitsByAction.fulfil(line) }))
}
