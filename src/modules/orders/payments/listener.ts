import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentChange, PaymentListener } from '../../payments/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { OrderAdjustmentService } from '../adjustments/service.ts'
import type { CancellationService } from '../cancellation/service.ts'
import type { PlacePendingOrder } from '../fulfilment/place-pending-order.ts'
import type { FulfilmentService } from '../fulfilment/service.ts'
import { isActiveOrder } from '../lifecycle/actions.ts'
import { lockOrder, updateOrderPaymentStatus } from '../lifecycle/repository.ts'
import type { OrderTransitions, OrderUnderLock } from '../lifecycle/service.ts'
import { isPaymentSecured } from '../lifecycle/status.ts'
import {
  deferredPaymentTermsOf,
  type PaymentTerms,
  type PaymentTimeouts,
  paymentTimeoutSecondsOf
} from '../lifecycle/terms.ts'
import { hasAnyPayment, type StockEvictions } from '../unpaid-stock/eviction-service.ts'
import type { UnpaidStockLimiter } from '../unpaid-stock/service.ts'

type Deps = {
  changes: OrderTransitions
  cancellations: CancellationService
  adjustments: Pick<OrderAdjustmentService, 'refundOverpayment'>
  fulfilment: Pick<FulfilmentService, 'deliverDigital'>
  evictions: Pick<StockEvictions, 'secure'>
  placePendingOrder: PlacePendingOrder
  pricing: Pick<PricingApi, 'countPaidRedemptions'>
  unpaidStock: Pick<UnpaidStockLimiter, 'sync'>
  paymentTimeouts: PaymentTimeouts
}

/** Stores the payment status of an order, then places, delivers or cancels it, or refunds an overpayment. */
export function createPaymentListener({
  changes,
  cancellations,
  adjustments,
  fulfilment,
  evictions,
  placePendingOrder: place,
  pricing,
  unpaidStock,
  paymentTimeouts
}: Deps): PaymentListener {
  const deliverOrPlace = (
    tx: Transaction,
    locked: OrderUnderLock,
    terms: PaymentTerms | undefined
  ): Promise<OrderUnderLock> =>
    terms === undefined ? fulfilment.deliverDigital(tx, locked) : place(tx, locked, terms)

  return async (tx, change) => {
    const { orderId: id, status, isOverpaid, isDisputed } = change
    // Other modules can open payment accounts, too. Those have no order.
    const order = await tx.first(lockOrder, { id })
    if (order === undefined) return
    const payment = { payment_status: status, is_overpaid: isOverpaid, is_disputed: isDisputed }
    const paymentTimeoutSeconds = paymentTimeoutSecondsOf(change.openMethods, paymentTimeouts, {
      isVerified: order.is_buyer_verified,
      isDeferred: order.is_deferred
    })
    await tx.run(updateOrderPaymentStatus, { id, ...payment, paymentTimeoutSeconds })
    await unpaidStock.sync(tx, order)
    if (isPaymentSecured(status) && !isPaymentSecured(order.payment_status) && order.mailbox !== null)
      await pricing.countPaidRedemptions(tx, id, order.mailbox)
    const settled = await cancellations.settle(tx, await changes.lock(tx, id), change)
    const terms = placementTermsOf(settled, change)
    const hasBecome = (is: typeof hasAnyPayment) => is(status) && !is(order.payment_status)
    const isSecuredNow = hasBecome(isPaymentSecured) || (terms !== undefined && isPaymentSecured(status))
    const isComplete =
      hasBecome(hasAnyPayment) || isSecuredNow
        ? await evictions.secure(tx, id, isPaymentSecured(status) && isActiveOrder(settled.lifecycle))
        : true
    const locked = isComplete ? await deliverOrPlace(tx, settled, terms) : settled
    // Last, because a refund changes the payments again and calls this listener recursively.
    if (locked.lifecycle.state !== 'canceled') await adjustments.refundOverpayment(tx, locked, change)
  }
}

/**
 * Returns the terms on which the order is placed now: it is paid or authorized, or the buyer chose to pay
 * later. `undefined`: it is not placed. An order with a pending cancellation is not placed, because the
 * payment may still be voided.
 */
function placementTermsOf(
  { order, lifecycle }: OrderUnderLock,
  { status, openMethods }: PaymentChange
): PaymentTerms | undefined {
  if (lifecycle.state !== 'pending' || lifecycle.isCancelRequested) return undefined
  return isPaymentSecured(status) ? order.terms : deferredPaymentTermsOf(openMethods)
}
