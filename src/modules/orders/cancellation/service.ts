import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { OrderPayments } from '../../payments/index.ts'
import type { OrderAdjustmentService } from '../adjustments/service.ts'
import { orderStaleError } from '../errors.ts'
import type { OrderUnderLock } from '../lifecycle/locked-order.ts'
import type { OrderActor, OrderTransitions } from '../lifecycle/service.ts'
import type { ApplyPaymentChange } from '../payments/apply-change.ts'
import type { OrderCancellationCompletion } from '../payments/settle-cancellation.ts'

type Deps = {
  db: Database
  changes: OrderTransitions
  settlement: Pick<OrderCancellationCompletion, 'complete'>
  adjustments: Pick<OrderAdjustmentService, 'refundCanceled' | 'assertCanRefundAll'>
  applyPaymentChange: ApplyPaymentChange
  payments: Pick<OrderPayments, 'sendOperations'> | undefined
}

/**
 * Cancels orders in two phases. The request stops further captures. The order is canceled once all payment
 * providers have confirmed that nothing more can be captured. In between, a payment may still arrive that was
 * started before the request.
 */
export function createCancellationService({
  db,
  changes,
  settlement,
  adjustments,
  applyPaymentChange,
  payments
}: Deps) {
  /**
   * Requests a cancellation; completes it if no payment provider has to confirm. A second request changes
   * nothing.
   * @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_NOT_CANCELABLE`
   */
  async function request(id: string, actor: OrderActor, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      const locked = await changes.lock(tx, id)
      write.expect(locked.order.version, orderStaleError)
      if (locked.lifecycle.state === 'canceled' || locked.lifecycle.isCancelRequested) return
      changes.assertAllowed(locked, 'cancel', actor)
      // A cancellation refunds everything that was paid.
      await adjustments.assertCanRefundAll(tx, locked, actor)
      await begin(tx, locked, actor)
    })
    await payments?.sendOperations(id, write.withoutSlot)
  }

  async function begin(tx: Transaction, locked: OrderUnderLock, actor: OrderActor): Promise<void> {
    const requested = await changes.transition(tx, locked, 'cancel', actor, { cancelRequestedBy: actor.role })
    if (locked.order.payment_status === null) {
      const canceled = await settlement.complete(tx, requested)
      await adjustments.refundCanceled(tx, canceled)
    } else if (locked.account !== undefined)
      await applyPaymentChange(tx, requested, await locked.account.freeze())
  }

  return { request, begin }
}
export type CancellationService = ReturnType<typeof createCancellationService>
