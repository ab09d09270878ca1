import type { RunWithoutRequestSlot } from '../../platform/idempotency/write.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import type { NewOrderPaymentAccount } from './accounts/service.ts'
import type { DailyPaymentSums, OrderPaymentAccountRow } from './facts/repository.ts'
import type { PaymentProviderAndMethodChoice } from './payments/start.ts'
import type { PaymentReconciliationReport } from './reconciliation/report.ts'
import type { PaymentReconciliationOptions } from './reconciliation/service.ts'

/** Captured and refunded amounts per day and currency, in minor units. `day` counts from 1. */
export type PaymentStatistics = readonly DailyPaymentSums[]

/**
 * The API of payments for other modules. Its functions are safe in any order of calls. None changes the payments of an order
 * after its account was opened, because only the module orders knows what an order still costs.
 */
export type PaymentsApi = {
  /**
   * Opens a payment account for something that is sold outside of orders, in the transaction that creates it. With `first`,
   * also starts a payment with the same id, and returns its method. Rejects an id that has an account.
   * @example
   * const account = { orderId: newId(), reference: 'G-1', customerId, currency: 'EUR', dueMinor: 900, tokenVersion: 1 }
   * const first = { provider: 'manual', method: 'bank_transfer' }
   * const method = await db.transaction(tx => payments.openAccount(tx, account, first))
   * assert.equal(method, 'bank_transfer')
   */
  openAccount(
    tx: Transaction,
    account: NewOrderPaymentAccount,
    first?: PaymentProviderAndMethodChoice
  ): Promise<string | undefined>
  /**
   * Sends the open operations of an account to their providers. The responses are recorded when this returns. `withoutSlot`: of
   * the request that waits.
   * @example
   * const account = { orderId: newId(), reference: 'G-1', customerId, currency: 'EUR', dueMinor: 900, tokenVersion: 1 }
   * const first = { provider: 'manual', method: 'bank_transfer' }
   * await db.transaction(tx => payments.openAccount(tx, account, first))
   * await payments.sendOperations(account.orderId)
   */
  sendOperations(orderId: string, withoutSlot?: RunWithoutRequestSlot): Promise<void>
  /**
   * @throws `PAYMENT_ORDER_NOT_FOUND`
   * @example
   * const buyer = { kind: 'customer', customerId } as const
   * const items = [{ variant_id: variantId, quantity: 1 }]
   * const { order } = await orders.orders.place(buyer, { items, shipping_address }, newWrite())
   * const { due, status } = await payments.findAccount(db, order.id)
   * assert.deepEqual([due, status], [order.total, 'unpaid'])
   */
  findAccount(db: Queryable, orderId: string): Promise<OrderPaymentAccountRow>
  /**
   * Sums captures and refunds per day. A day lasts from its start to the next start, the last one to `end`.
   * @example
   * const start = new Date('2026-01-01T00:00:00Z')
   * const sums = await payments.statistics(db, [start], new Date('2026-01-02T00:00:00Z'))
   * assert.deepEqual(sums, [])
   */
  statistics(db: Queryable, starts: readonly Date[], end: Date): Promise<PaymentStatistics>
  /**
   * Counts the quarantined provider events.
   * @example
   * assert.equal(await payments.countQuarantinedEvents(db), 0)
   */
  countQuarantinedEvents(db: Queryable): Promise<number>
  /**
   * Compares the payments of the providers since a date with the recorded facts. With `record`, records what is missing.
   * @example
   * const { findings } = await payments.reconcile({ since: new Date(), record: false })
   * assert.deepEqual(findings, [])
   */
  reconcile(
    options: PaymentReconciliationOptions,
    onProgress?: (looked: number) => void
  ): Promise<PaymentReconciliationReport>
}
