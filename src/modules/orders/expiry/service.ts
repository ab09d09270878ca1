import { LOWEST_ID } from '../../../kernel/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { CancellationService } from '../cancellation/service.ts'
import { updateLockedOrder } from '../lifecycle/locked-order.ts'
import { type OrderTransitions, SYSTEM_ACTOR } from '../lifecycle/service.ts'
import { isPaymentSecured } from '../lifecycle/status.ts'
import {
  firstDeferredTermsOfPaymentMethods,
  paymentTimeoutSecondsOf,
  type UnpaidOrderTimeoutSeconds
} from '../lifecycle/terms.ts'
import type { UnpaidStockLimiter } from '../unpaid-stock/service.ts'
import * as repository from './repository.ts'

type Deps = {
  db: Database
  log: Pick<Log, 'error'>
  changes: OrderTransitions
  cancellations: Pick<CancellationService, 'begin'>
  unpaidStock: Pick<UnpaidStockLimiter, 'verify'>
  paymentTimeouts: UnpaidOrderTimeoutSeconds
}

const ORDERS_PER_BATCH = 100
const EXPIRED = { ...SYSTEM_ACTOR, reason: 'it was not paid in time' }

/** Cancels orders whose payment timeout has passed, in the same two phases as other cancellations. */
export function createOrderExpirer({ db, log, changes, cancellations, unpaidStock, paymentTimeouts }: Deps) {
  async function expire(tx: Transaction, id: string): Promise<void> {
    const locked = await changes.lock(tx, id)
    if (locked.lifecycle.state !== 'pending' || locked.lifecycle.isCancelRequested) return
    // A paid order waits for the stock that it takes from unpaid orders.
    if (isPaymentSecured(locked.lifecycle.paymentStatus)) return
    const methods = (await locked.account?.listOpenMethods()) ?? []
    // An order with a deferred payment method is placed when the payment starts, so it does not expire.
    if (firstDeferredTermsOfPaymentMethods(methods) !== undefined) return
    const checked = await unpaidStock.verify(tx, locked)
    const seconds = paymentTimeoutSecondsOf(methods, paymentTimeouts, {
      isVerified: checked.order.is_buyer_verified,
      isDeferred: checked.order.is_deferred
    })
    const updated = await updateLockedOrder(tx, checked, repository.updateOrderExpiry, { seconds })
    if (updated.order.has_expired) await cancellations.begin(tx, updated, EXPIRED)
  }

  /** Logs a failure, so that one order does not keep the others from expiring. */
  const expireOrLog = (id: string) =>
    db
      .transaction(tx => expire(tx, id))
      .catch(error => log.error({ err: error, order: id }, 'an unpaid order could not be canceled'))

  const listDue = (after: string, limit: number): Promise<{ id: string }[]> =>
    db.rows(repository.listExpiringOrders, { seconds: paymentTimeouts.usual, after, limit })

  return {
    hasDue: async (): Promise<boolean> => (await listDue(LOWEST_ID, 1)).length > 0,
    run: async (signal: AbortSignal): Promise<void> => {
      let after: string | undefined = LOWEST_ID
      while (after !== undefined && !signal.aborted) {
        const due = await listDue(after, ORDERS_PER_BATCH)
        for (const { id } of due) if (!signal.aborted) await expireOrLog(id)
        after = due.at(-1)?.id
      }
    }
  }
}
