import { derivedId } from '../../../kernel/ids.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { CartApi } from '../../cart/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { ChangedPaymentAccountState } from '../../payments/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import { unrefundedCapturedMinor } from '../adjustments/credits.ts'
import { orderCanceledEvent } from '../events.ts'
import { remainingOrderLineUnitsByAction } from '../lifecycle/counters.ts'
import { eventSubjectOfLockedOrder, type OrderUnderLock } from '../lifecycle/locked-order.ts'
import { type OrderTransitions, SYSTEM_ACTOR } from '../lifecycle/service.ts'

type Deps = {
  changes: Pick<OrderTransitions, 'transition'>
  emit: Emit
  pricing: Pick<PricingApi, 'release'>
  inventory: Pick<InventoryApi, 'post'> | undefined
  cart: Pick<CartApi, 'restoreLines'> | undefined
}

/** The second phase of a cancellation: once nothing more can be captured, the order is canceled or kept. */
export function createOrderCancellationCompletion({ changes, emit, pricing, inventory, cart }: Deps) {
  /**
   * Cancels the order: releases stock and uses of promotions, and restores the cart of an order that expired.
   * The caller credits and refunds it.
   */
  async function complete(tx: Transaction, locked: OrderUnderLock): Promise<OrderUnderLock> {
    const { id, number, customer_id, cart_id, cancel_requested_by } = locked.order
    const lines = locked.lines.map(line => ({
      ...line,
      canceled: line.canceled + remainingOrderLineUnitsByAction.cancel(line)
    }))
    const canceled = await changes.transition(tx, locked, 'confirm_cancel', SYSTEM_ACTOR, {
      lines,
      cancelRequestedBy: null
    })
    await inventory?.post(tx, { id: derivedId(id, 'cancel'), kind: 'release', owner: id })
    if (cancel_requested_by === 'system' && cart_id !== null) {
      const open = locked.lines.map(line => ({
        variantId: line.variantId,
        quantity: remainingOrderLineUnitsByAction.cancel(line),
        metadata: line.metadata ?? {}
      }))
      const unsold = open.filter(({ quantity }) => quantity > 0)
      await cart?.restoreLines(tx, { customerId: customer_id, cartId: cart_id }, unsold)
    }
    await pricing.release(tx, id)
    emit(tx, orderCanceledEvent, eventSubjectOfLockedOrder(tx, id), {
      order_id: id,
      number,
      customer_id,
      by: cancel_requested_by ?? 'system'
    })
    return canceled
  }

  /** Completes a requested cancellation once nothing more can be captured. Returns the changed order. */
  async function settle(
    tx: Transaction,
    locked: OrderUnderLock,
    change: ChangedPaymentAccountState
  ): Promise<OrderUnderLock> {
    const { account, order, lifecycle } = locked
    if (!lifecycle.isCancelRequested || !change.isFrozen || !change.isSettled) return locked
    const isPaid = change.captured > 0 && unrefundedCapturedMinor(change) >= change.due
    // The order expired, but its payment came first. No person requested the cancellation, so the order is
    // kept.
    if (order.cancel_requested_by === 'system' && order.canceled_for === null && isPaid) {
      await account?.unfreeze()
      return changes.transition(tx, locked, 'refuse_cancel', SYSTEM_ACTOR, { cancelRequestedBy: null })
    }
    return complete(tx, locked)
  }

  return { settle, complete }
}
export type OrderCancellationCompletion = ReturnType<typeof createOrderCancellationCompletion>
