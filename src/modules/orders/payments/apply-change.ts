import type { Transaction } from '../../../platform/postgres/database.ts'
import type { ChangedPaymentAccountState } from '../../payments/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { OrderAdjustmentService } from '../adjustments/service.ts'
import type { PlacePendingOrder } from '../fulfilment/place-pending-order.ts'
import type { FulfilmentService } from '../fulfilment/service.ts'
import { isActiveOrder } from '../lifecycle/actions.ts'
import { type OrderUnderLock, updateLockedOrder } from '../lifecycle/locked-order.ts'
import { type LockedOrderRow, updateOrderPaymentStatus } from '../lifecycle/repository.ts'
import type { OrderPaymentColumns } from '../lifecycle/service.ts'
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
  evictions: Pick<StockEvictionService, 'confirm' | 'take'>
  placePendingOrder: PlacePendingOrder
  pricing: Pick<PricingApi, 'countPaidRedemptions'>
  unpaidStock: Pick<UnpaidStockLimiter, 'sync'>
  tenders: Pick<OrderTenders, 'list'>
  paymentTimeouts: UnpaidOrderTimeoutSeconds
}

/**
 * Creates the one place that applies a change of payments to an order. It stores the payment status,
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
  async function paymentColumnsAfter(
    tx: Transaction,
    order: LockedOrderRow,
    change: ChangedPaymentAccountState
  ): Promise<OrderPaymentColumns> {
    const payment_status = paymentStatusWithTenders(change.status, change, await tenders.list(tx, order))
    return { payment_status, is_overpaid: change.isOverpaid, is_disputed: change.isDisputed }
  }

  async function storeStatus(
    tx: Transaction,
    locked: OrderUnderLock,
    payment: OrderPaymentColumns,
    { openMethods }: ChangedPaymentAccountState
  ): Promise<OrderUnderLock> {
    const { order } = locked
    const paymentTimeoutSeconds = paymentTimeoutSecondsOf(openMethods, paymentTimeouts, {
      isVerified: order.is_buyer_verified,
      isDeferred: order.is_deferred
    })
    const values = { ...payment, paymentTimeoutSeconds }
    const stored = await updateLockedOrder(tx, locked, updateOrderPaymentStatus, values)
    await unpaidStock.sync(tx, order)
    return stored
  }

  async function apply(
    tx: Transaction,
    order: OrderUnderLock,
    change: ChangedPaymentAccountState
  ): Promise<OrderUnderLock> {
    const { id, payment_status: before, mailbox } = order.order
    const payment = await paymentColumnsAfter(tx, order.order, change)
    let locked = order
    // A pending cancellation needs the stored status, and decides whether the order can be placed.
    const isStoredFirst = order.lifecycle.isCancelRequested
    if (isStoredFirst)
      locked = await settleCancellation(tx, await storeStatus(tx, locked, payment, change), change)
    const terms = placementTermsOf(locked, change)
    const isSecured = isPaymentSecured(change.status)
    const hasBecome = (is: typeof hasAnyOrderPayment) => is(change.status) && !is(before)
    const needsUnits =
      hasBecome(hasAnyOrderPayment) || (isSecured && (!isPaymentSecured(before) || terms !== undefined))
    const lacking = needsUnits ? await evictions.confirm(tx, id) : []
    const hasUnits = lacking.length === 0
    // One update of the order stores the status and places it.
    const isPlacing = hasUnits && terms !== undefined
    if (!isPlacing && !isStoredFirst) locked = await storeStatus(tx, locked, payment, change)
    if (isPlacing) locked = await placePendingOrder(tx, locked, terms, payment)
    else if (hasUnits) locked = await fulfilment.deliverDigital(tx, locked)
    else if (isSecured && isActiveOrder(locked.lifecycle)) await evictions.take(tx, id, lacking)
    if (hasBecome(isPaymentSecured) && mailbox !== null) await pricing.countPaidRedemptions(tx, id, mailbox)
    return locked
  }

  return async (tx: Transaction, order: OrderUnderLock, first: ChangedPaymentAccountState): Promise<void> => {
    let locked = order
    let change: ChangedPaymentAccountState | undefined = first
    // Ends, because each refund lowers what is held, and no more than that is refunded.
    while (change !== undefined) {
      locked = await apply(tx, locked, change)
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
