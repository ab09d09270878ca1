import { found } from '../../../kernel/errors.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { payableOrderNotFoundError } from '../errors.ts'
import type { ChangedPaymentAccountState } from '../facts/recorder.ts'
import type { LockedOrderPaymentAccount, LockOrderPaymentAccount } from './locked-account.ts'

/**
 * Applies a change that began in payments to the order. Runs in the transaction that recorded the facts, with the account
 * locked. It can run again without a change.
 */
export type PaymentChangeListener = (
  tx: Transaction,
  account: LockedOrderPaymentAccount,
  change: ChangedPaymentAccountState
) => Promise<void>

type Deps = { lockAccount: LockOrderPaymentAccount; listener: () => PaymentChangeListener | undefined }

/** Changes of payment accounts that begin in payments: responses of providers, callbacks, polls, administrators. */
export const createOrderPaymentAccountChanges = ({ lockAccount, listener }: Deps) => ({
  /** @throws `PAYMENT_ORDER_NOT_FOUND` */
  lock: async (tx: Transaction, orderId: string): Promise<LockedOrderPaymentAccount> =>
    found(await lockAccount(tx, orderId), payableOrderNotFoundError),

  /** Settles the account after facts or operations were recorded, and passes the change to the listener. */
  settle: async (
    tx: Transaction,
    account: LockedOrderPaymentAccount
  ): Promise<ChangedPaymentAccountState> => {
    const change = await account.settle()
    await listener()?.(tx, account, change)
    return change
  },

  /** As `settle`, after facts that other work has usually recorded already. The listener gets changes only. */
  settleFacts: async (tx: Transaction, account: LockedOrderPaymentAccount): Promise<void> => {
    const change = await account.settle()
    if (!change.isUnchanged) await listener()?.(tx, account, change)
  }
})
export type OrderPaymentAccountChanges = ReturnType<typeof createOrderPaymentAccountChanges>
