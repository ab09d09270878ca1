import { derivedId } from '../../../kernel/ids.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { CartApi } from '../../cart/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { PaymentChange, PaymentsApi } from '../../payments/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { OrderAdjustmentService } from '../adjustments/service.ts'
import { orderStale } from '../errors.ts'
import { orderCanceledEvent } from '../events.ts'
import { remainingLineUnits } from '../lifecycle/counters.ts'
import {
  type OrderActor,
  type OrderTransitions,
  type OrderUnderLock,
  SYSTEM_ACTOR
} from '../lifecycle/service.ts'

type Deps = {
  db: Database
  changes: OrderTransitions
  adjustments: Pick<OrderAdjustmentService, 'creditRest'>
  emit: Emit
  pricing: Pick<PricingApi, 'release'>
  /** Absent: an order is canceled immediately, because no payment provider has to confirm. */
  payments:
    | Pick<PaymentsApi, 'lockAccount' | 'freeze' | 'unfreeze' | 'sendOperations' | 'assertCanRefund'>
    | undefined
  inventory: Pick<InventoryApi, 'post'> | undefined
  cart: Pick<CartApi, 'restoreLines'> | undefined
}
/** The payments of an order that a cancellation depends on. */
type CancellationPayments = Pick<
  PaymentChange,
  'isFrozen' | 'isSettled' | 'captured' | 'refunded' | 'refunding' | 'due'
>

/**
 * Cancels orders in two phases. The request stops further captures. The order is canceled once all payment
 * providers have confirmed that nothing more can be captured. In between, a payment may still arrive that was
 * started before the request.
 */
export function createCancellationService({
  db,
  changes,
  adjustments,
  emit,
  pricing,
  payments,
  inventory,
  cart
}: Deps) {
  /**
   * Requests a cancellation; completes it if no payment provider has to confirm. A second request changes
   * nothing.
   * @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_NOT_CANCELABLE`
   */
  async function request(id: string, actor: OrderActor, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      const locked = await changes.lock(tx, id)
      write.expect(locked.order.version, orderStale)
      if (locked.lifecycle.state === 'canceled' || locked.lifecycle.isCancelRequested) return
      changes.assertAllowed(locked, 'cancel', actor)
      await assertCanRefundPaidAmount(tx, id, actor)
      await begin(tx, locked, actor)
    })
    await payments?.sendOperations(id)
  }

  /**
   * A cancellation refunds everything that was paid, so the actor needs the right to. @throws
   * `PAYMENT_REFUND_LIMIT`, `AUTH_RECENT_LOGIN_REQUIRED`
   */
  async function assertCanRefundPaidAmount(
    tx: Transaction,
    id: string,
    { refunder }: OrderActor
  ): Promise<void> {
    if (refunder === undefined) return
    const account = await payments?.lockAccount(tx, id)
    if (account === undefined) return
    const heldMinor = account.captured - account.refunded - account.refunding
    if (heldMinor > 0) payments?.assertCanRefund(account, heldMinor, refunder)
  }

  async function begin(tx: Transaction, locked: OrderUnderLock, actor: OrderActor): Promise<void> {
    const requested = await changes.transition(tx, locked, 'cancel', actor, { cancelRequestedBy: actor.role })
    // `freeze` calls the payment listener, which settles the cancellation in this transaction if no provider
    // has to confirm.
    if (locked.order.payment_status === null) await finish(tx, requested, 0)
    else await payments?.freeze(tx, locked.order.id)
  }

  /** Completes a requested cancellation once nothing more can be captured. Returns the changed order. */
  async function settle(
    tx: Transaction,
    locked: OrderUnderLock,
    account: CancellationPayments
  ): Promise<OrderUnderLock> {
    const { order, lifecycle } = locked
    if (lifecycle.state === 'canceled') await refundAll(tx, locked, account.captured)
    if (!lifecycle.isCancelRequested || !account.isFrozen || !account.isSettled) return locked
    const isPaid =
      account.captured > 0 && account.captured - account.refunded - account.refunding >= account.due
    // The order expired, but its payment came first. No person requested the cancellation, so the order is
    // kept.
    if (order.cancel_requested_by === 'system' && order.canceled_for === null && isPaid) {
      await payments?.unfreeze(tx, order.id)
      return changes.transition(tx, locked, 'refuse_cancel', SYSTEM_ACTOR, { cancelRequestedBy: null })
    }
    return finish(tx, locked, account.captured)
  }

  /**
   * Cancels the order: releases stock and uses of promotions, refunds, and restores the cart of an order that
   * expired.
   */
  async function finish(
    tx: Transaction,
    locked: OrderUnderLock,
    capturedMinor: number
  ): Promise<OrderUnderLock> {
    const { id, number, customer_id, cart_id, cancel_requested_by } = locked.order
    const lines = locked.lines.map(line => ({
      ...line,
      canceled: line.canceled + remainingLineUnits.cancel(line)
    }))
    const canceled = await changes.transition(tx, locked, 'confirm_cancel', SYSTEM_ACTOR, {
      lines,
      cancelRequestedBy: null
    })
    await inventory?.post(tx, { id: derivedId(id, 'cancel'), kind: 'release', owner: id })
    await refundAll(tx, locked, capturedMinor)
    if (cancel_requested_by === 'system' && cart_id !== null) {
      const open = locked.lines.map(line => ({
        variantId: line.variantId,
        quantity: remainingLineUnits.cancel(line)
      }))
      const unsold = open.filter(({ quantity }) => quantity > 0)
      await cart?.restoreLines(tx, { customerId: customer_id, cartId: cart_id }, unsold)
    }
    await pricing.release(tx, id)
    emit(tx, orderCanceledEvent, id, {
      order_id: id,
      number,
      customer_id,
      by: cancel_requested_by ?? 'system'
    })
    return canceled
  }

  /** Refunds everything that was captured; again when a later capture arrives. */
  async function refundAll(tx: Transaction, locked: OrderUnderLock, capturedMinor: number): Promise<void> {
    const id = derivedId(locked.order.id, `canceled:${capturedMinor}`)
    await adjustments.creditRest(tx, locked, { id, kind: 'cancel', actor: SYSTEM_ACTOR })
  }

  return { request, begin, settle }
}
export type CancellationService = ReturnType<typeof createCancellationService>
