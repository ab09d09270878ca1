import type { RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { LockOrderPaymentAccount } from './locked-account.ts'
import type { OrderPaymentAccountService } from './service.ts'

/**
 * What the module orders does with payments. The package does not export it, because it keeps its promises only when one
 * module decides what an order owes. Payments know an order only by its id.
 */
export type OrderPayments = {
  /**
   * As `PaymentsApi.openAccount`, for an order whose first payment is sent right after the commit: its operation is marked as
   * sent, so no transaction claims it.
   */
  openAccountOfOrder: OrderPaymentAccountService['openAccountOfOrder']
  /**
   * Sends the open operations of an order to their providers. The responses are recorded when this returns. `withoutSlot`: of
   * the request that waits.
   */
  sendOperations(orderId: string, withoutSlot?: RunWithoutRequestSlot): Promise<void>
  /**
   * Locks the account until `tx` ends, and returns it with the functions that change its payments. Call it once in a
   * transaction, before the order is locked. Returns `undefined` when the order has no account.
   */
  lockAccount: LockOrderPaymentAccount
  /**
   * Erases the personal data of this customer (null: of guests) in the payments of these orders. Amounts stay. Locks the
   * accounts in the order of their ids.
   */
  erase(tx: Transaction, customerId: string | null, orderIds: readonly string[]): Promise<void>
}

const ofOrders = new WeakMap<object, OrderPayments>()

/** Provides what orders need beside the API of a payments module, or of a stand-in for it. */
export const provideOrderPayments = (api: object, payments: OrderPayments): void => {
  ofOrders.set(api, payments)
}

/** Returns what the module orders does with these payments. */
export function orderPaymentsOfApi(api: object): OrderPayments {
  const payments = ofOrders.get(api)
  if (payments === undefined) throw new Error('these payments are not of a payments module')
  return payments
}
