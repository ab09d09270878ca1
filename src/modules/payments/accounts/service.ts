import { found } from '../../../kernel/errors.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentAttemptLimits } from '../attempt-limits/service.ts'
import { payableOrderNotFoundError } from '../errors.ts'
import { findOrderPaymentAccount, type OrderPaymentAccountRow } from '../facts/repository.ts'
import type { PaymentProviderAndMethodChoice, PaymentStarter, StartedPayment } from '../payments/start.ts'
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
type Deps = { starter: PaymentStarter; attempts: PaymentAttemptLimits }

/** Opens and reads payment accounts. */
export function createOrderPaymentAccountService({ starter, attempts }: Deps) {
  return {
    /** See `PaymentsApi`. */
    openAccount: async (
      tx: Transaction,
      account: NewOrderPaymentAccount,
      first?: PaymentProviderAndMethodChoice
    ): Promise<StartedPayment | undefined> => {
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
      return payment && starter.startFirst(tx, payment, reference)
    },

    findAccount: async (db: Queryable, orderId: string): Promise<OrderPaymentAccountRow> =>
      found(await db.first(findOrderPaymentAccount, { order_id: orderId }), payableOrderNotFoundError)
  }
}
export type OrderPaymentAccountService = ReturnType<typeof createOrderPaymentAccountService>
