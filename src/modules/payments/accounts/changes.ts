import { found } from '../../../kernel/errors.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { payableOrderNotFoundError } from '../errors.ts'
import type { PaymentAccountChange } from '../facts/recorder.ts'
import type { LockedPaymentAccount, LockPaymentAccount } from './locked-account.ts'

/**
 * Applies a change that began in payments to the order. Runs in the transaction that recorded the facts, with the account
 * locked. It can run again without a change.
 */
export type PaymentChangeListener = (
  tx: Transaction,
  account: LockedPaymentAccount,
  change: PaymentAccountChange
) => Promise<void>

type Deps = { lockAccount: LockPaymentAccount; listener: () => PaymentChangeListener | undefined }

/** Changes of payment accounts that begin in payments: responses of providers, callbacks, polls, administrators. */
export const createPaymentAccountChanges = ({ lockAccount, listener }: Deps) => ({
  /** @throws `PAYMENT_ORDER_NOT_FOUND` */
  lock: async (tx: Transaction, orderId: string): Promise<LockedPaymentAccount> =>
    found(await lockAccount(tx, orderId), payableOrderNotFoundError),

  /** Settles the account after facts or operations were recorded, and passes the change to the listener. */
  settle: async (tx: Transaction, account: LockedPaymentAccount): Promise<void> => {
    const change = await account.settle()
    await listener()?.(tx, account, change)
  }
})
export type PaymentAccountChanges = ReturnType<typeof createPaymentAccountChanges>
