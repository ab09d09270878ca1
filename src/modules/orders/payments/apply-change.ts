import type { Transaction } from '../../../platform/postgres/database.ts'
import type { ChangedPaymentAccountState } from '../../payments/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { OrderAdjustmentService } from '../adjustments/service.ts'
import type { PlacePendingOrder } from '../fulfilment/place-pending-order.ts'
import type { FulfilmentService } from '../fulfilment/service.ts'
import { isActiveOrder } from '../lifecycle/actions.ts'
import { type OrderUnderLock, updateLockedOrder } from '../lifecycle/locked-order.ts'
import { updateOrderPaymentStatus } from '../lifecycle/repository.ts'
import { isPaymentSecured } from '../lifecycle/status.ts'
import {
  firstDeferredTermsOfPaymentMethods,
  type PaymentTerms,
  paymentTimeoutSecondsOf,
  type UnpaidOrderTimeoutSeconds
} from '../lifecycle/terms.ts'
import { paymentStatusWithTenders } from '../tenders/allocation.ts'
import type { OrderTenders } from '../tenders/service.ts'
import { hasAnyOrderPayment, type StockEvictionService } from '../unpaid-stock/eviction-service.ts'
import type { UnpaidStockLimiter } from '../unpaid-stock/service.ts'
import type { OrderCancellationCompletion } from './settle-cancellation.ts'

type Deps = {
  settleCancellation: OrderCancellationCompletion['settle']
  adjustments: Pick<OrderAdjustmentService, 'refundAmountDue'>
  fulfilment: Pick<FulfilmentService, 'deliverDigital'>
  evictions: Pick<StockEvictionService, 'secure'>
  placePendingOrder: PlacePendingOrder
  pricing: Pick<PricingApi, 'countPaidRedemptions'>
  unpaidStock: Pick<UnpaidStockLimiter, 'sync'>
  tenders: Pick<OrderTenders, 'list'>
  paymentTimeouts: UnpaidOrderTimeoutSeconds
}

/**
 * Creates the one place that applies a change of payments to an order. It stores the payment status, then
 * cancels, places or delivers the order, and decides the refund that is due. A requested refund is the next
 * change, until nothing is left to decide.
 */
export function createPaymentChangeApplier({
  settleCancellation,
  adjustments,
  fulfilment,
  evictions,
  placePendingOrder,
  pricing,
  unpaidStock,
  tenders,
  paymentTimeouts
}: Deps) {
  async function storeStatus(
    tx: Transaction,
    locked: OrderUnderLock,
    change: ChangedPaymentAccountState
  ): Promise<OrderUnderLock> {
    const { order } = locked
    const { status, isOverpaid, isDisputed, openMethods } = change
    const paymentTimeoutSeconds = paymentTimeoutSecondsOf(openMethods, paymentTimeouts, {
      isVerified: order.is_buyer_verified,
      isDeferred: order.is_deferred
    })
    const payment_status = paymentStatusWithTenders(status, change, await tenders.list(tx, order))
    const payment = { payment_status, is_overpaid: isOverpaid, is_disputed: isDisputed }
    const stored = await updateLockedOrder(tx, locked, updateOrderPaymentStatus, {
      ...payment,
      paymentTimeoutSeconds
    })
    await unpaidStock.sync(tx, order)
    if (isPaymentSecured(status) && !isPaymentSecured(order.payment_status) && order.mailbox !== null)
      await pricing.countPaidRedemptions(tx, order.id, order.mailbox)
    return stored
  }

  /** `before` is the payment status that the order had before this change. */
  async function placeOrDeliver(
    tx: Transaction,
    locked: OrderUnderLock,
    change: ChangedPaymentAccountState,
    before: OrderUnderLock['order']['payment_status']
  ): Promise<OrderUnderLock> {
    const { status } = change
    const terms = placementTermsOf(locked, change)
    const hasBecome = (is: typeof hasAnyOrderPayment) => is(status) && !is(before)
    const isSecuredNow = hasBecome(isPaymentSecured) || (terms !== undefined && isPaymentSecured(status))
    if (hasBecome(hasAnyOrderPayment) || isSecuredNow) {
      const canTakeUnits = isPaymentSecured(status) && isActiveOrder(locked.lifecycle)
      if (!(await evictions.secure(tx, locked.order.id, canTakeUnits))) return locked
    }
    return terms === undefined ? fulfilment.deliverDigital(tx, locked) : placePendingOrder(tx, locked, terms)
  }

  return async (tx: Transaction, order: OrderUnderLock, first: ChangedPaymentAccountState): Promise<void> => {
    let locked = order
    let change: ChangedPaymentAccountState | undefined = first
    // Ends, because each refund lowers what is held, and no more than that is refunded.
    while (change !== undefined) {
      const before = locked.order.payment_status
      locked = await storeStatus(tx, locked, change)
      locked = await settleCancellation(tx, locked, change)
      locked = await placeOrDeliver(tx, locked, change, before)
      change = await adjustments.refundAmountDue(tx, locked, change)
    }
  }
}
export type ApplyPaymentChange = ReturnType<typeof createPaymentChangeApplier>

/**
 * Returns the terms on which the order is placed now: it is paid or authorized, or the buyer chose to pay
 * later. `undefined`: it is not placed. An order with a pending cancellation is not placed, because the
 * payment may still be voided.
 */
function placementTermsOf(
  { order, lifecycle }: OrderUnderLock,
  { status, openMethods }: ChangedPaymentAccountState
): PaymentTerms | undefined {
  if (lifecycle.state !== 'pending' || lifecycle.isCancelRequested) return undefined
  return isPaymentSecured(status) ? order.terms : firstDeferredTermsOfPaymentMethods(openMethods)
}
