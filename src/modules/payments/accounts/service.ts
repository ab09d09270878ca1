import { found } from '../../../kernel/errors.ts'
import type { RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentAttemptLimits } from '../attempt-limits/service.ts'
import { payableOrderNotFoundError } from '../errors.ts'
import { findOrderPaymentAccount, type OrderPaymentAccountRow } from '../facts/repository.ts'
import type { PreparedPaymentOperation } from '../payments/prepared-operation.ts'
import type { NewPayment, PaymentProviderAndMethodChoice, PaymentStarter } from '../payments/start.ts'
import * as repository from './repository.ts'

export type NewOrderPaymentAccount = {
  readonly orderId: string
  /** Payment reference that the customer states: the order number. */
  readonly reference: string
  /** Null: a guest. */
  readonly customerId: string | null
  readonly currency: string
  readonly dueMinor: number
  /** Version of the token of a guest's order. */
  readonly tokenVersion: number
  /** Network of the client. Absent or null: an administrator places the order. */
  readonly network?: string | null
}
/** The first payment of an order. */
export type StartedPayment = {
  readonly method: string
  /**
   * Sends its operation, which is marked as sent. Call it after the commit; else the reconciler sends it 15 seconds later.
   * `isUnchanged`: the response left the payments of the order as they were. Absent: the provider needs no call.
   */
  readonly send?: (withoutSlot?: RunWithoutRequestSlot) => Promise<{ readonly isUnchanged: boolean }>
}
type Deps = {
  starter: PaymentStarter
  attempts: PaymentAttemptLimits
  sender: {
    sendPrepared(
      prepared: PreparedPaymentOperation,
      withoutSlot?: RunWithoutRequestSlot
    ): Promise<{ readonly isUnchanged: boolean }>
  }
}

/** Opens and reads payment accounts. */
export function createOrderPaymentAccountService({ starter, attempts, sender }: Deps) {
  /** Opens an account, and starts its first payment by `start`. Returns the payment's method and what `start` returns. */
  async function open<T>(
    tx: Transaction,
    account: NewOrderPaymentAccount,
    first: PaymentProviderAndMethodChoice | undefined,
    start: (tx: Transaction, payment: NewPayment, reference: string) => Promise<T>
  ): Promise<{ method: string; started: T } | undefined> {
    const { orderId: order_id, customerId: customer_id, currency, dueMinor: due, tokenVersion } = account
    const { reference } = account
    const network = attempts.hashNetwork(account.network ?? null)
    const opened = { order_id, customer_id, currency, due, committed: 0, frozen_at: null }
    const payment =
      first === undefined || due === 0
        ? undefined
        : starter.choose(opened, { ...first, id: order_id, network })
    await tx.run(repository.insertOrderPaymentAccount, {
      order_id,
      customer_id,
      currency,
      due,
      committed: payment?.amount ?? 0,
      token_version: tokenVersion,
      reference
    })
    return payment && { method: payment.method, started: await start(tx, payment, reference) }
  }

  return {
    /** See `PaymentsApi`. */
    openAccount: async (
      tx: Transaction,
      account: NewOrderPaymentAccount,
      first?: PaymentProviderAndMethodChoice
    ): Promise<string | undefined> => (await open(tx, account, first, starter.startFirst))?.method,

    /** See `OrderPayments`. */
    openAccountOfOrder: async (
      tx: Transaction,
      account: NewOrderPaymentAccount,
      first?: PaymentProviderAndMethodChoice
    ): Promise<StartedPayment | undefined> => {
      const opened = await open(tx, account, first, starter.startFirstAsSent)
      if (opened === undefined) return undefined
      const { method, started: prepared } = opened
      if (prepared === undefined) return { method }
      return { method, send: withoutSlot => sender.sendPrepared(prepared, withoutSlot) }
    },

    findAccount: async (db: Queryable, orderId: string): Promise<OrderPaymentAccountRow> =>
      found(await db.first(findOrderPaymentAccount, { order_id: orderId }), payableOrderNotFoundError)
  }
}
export type OrderPaymentAccountService = ReturnType<typeof createOrderPaymentAccountService>
