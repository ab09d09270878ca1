import { found } from '../../../kernel/errors.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { payableOrderNotFoundError } from '../errors.ts'
import { canceledPaymentFact } from '../facts/fact.ts'
import type { ChangedPaymentAccountState, PaymentFactRecorder } from '../facts/recorder.ts'
import { lockOrderPaymentAccount, type OrderPaymentAccountRow } from '../facts/repository.ts'
import {
  failUnsentOperationsOfCanceledOrder,
  insertPaymentOperations,
  listOperationsOfPayment
} from '../payments/operation-repository.ts'
import type { RefundActor, RefundService, RequestedRefund } from '../payments/refunds.ts'
import { listPaymentsOfOrder } from '../payments/repository.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import * as repository from './repository.ts'

type Deps = {
  providers: Pick<PaymentProviderRegistry, 'get'>
  recorder: PaymentFactRecorder
  refunds: RefundService
  /** Enqueues a job that sends the operation after the commit. */
  wake: (tx: Transaction, operationId: string) => void
}

/**
 * Locks the payment account of an order until `tx` ends. Returns `undefined` when the order has no account. A transaction
 * locks the account once, before the order, and hands it on: its functions lock nothing. Each function that changes
 * payments returns the state after the change and calls no other module.
 */
export const createOrderPaymentAccountLock = (deps: Deps) => async (tx: Transaction, orderId: string) => {
  const row = await tx.first(lockOrderPaymentAccount, { order_id: orderId })
  return row && lockedAccount(deps, tx, row)
}
export type LockOrderPaymentAccount = ReturnType<typeof createOrderPaymentAccountLock>

/** A payment account whose row is locked until its transaction ends. */
export type LockedOrderPaymentAccount = ReturnType<typeof lockedAccount>

function lockedAccount(
  { providers, recorder, refunds, wake }: Deps,
  tx: Transaction,
  locked: OrderPaymentAccountRow
) {
  const { order_id } = locked
  let row = locked

  const settle = async (): Promise<ChangedPaymentAccountState> => {
    const { account, change } = await recorder.settle(tx, row)
    row = account
    return change
  }
  const listPayments = () => tx.rows(listPaymentsOfOrder, { order_id })

  return {
    /** The account after the last change. */
    state: (): OrderPaymentAccountRow => row,

    /** Derives the state of the payments from the recorded facts again. */
    settle,

    listOpenMethods: async (): Promise<string[]> =>
      (await listPayments()).filter(({ is_open }) => is_open).map(({ method }) => method),

    /**
     * Captures up to this amount of what is authorized. The provider voids the rest. Skips payments that have an open
     * operation, because it may be this capture, and a payment of which a part is to be captured when its provider cannot.
     */
    capture: async ({
      id,
      amountMinor,
      actor
    }: Omit<RequestedRefund, 'reason'>): Promise<ChangedPaymentAccountState> => {
      let remainingMinor = amountMinor
      for (const payment of await listPayments()) {
        const amount = Math.min(remainingMinor, payment.authorized)
        const open = await tx.rows(listOperationsOfPayment, { payment_id: payment.id })
        const isWhole = amount === payment.authorized
        if (!isWhole && !providers.get(payment.provider).canCapturePart) continue
        if (amount <= 0 || open.some(each => each.settled_at === null && each.kind !== 'refund')) continue
        const operationId = derivedId(id, `capture:${payment.id}`)
        const operation = { ids: [operationId], paymentIds: [payment.id], amounts: [amount] }
        await tx.run(insertPaymentOperations, { ...operation, kind: 'capture', reason: null, actor })
        wake(tx, operationId)
        remainingMinor -= amount
      }
      return settle()
    },

    /**
     * Checks that the caller may refund this much more of the order. @throws `PAYMENT_REFUND_LIMIT`,
     * `AUTH_RECENT_LOGIN_REQUIRED`
     */
    assertCanRefund: (amountMinor: number, refunder: RefundActor): void =>
      refunds.assertCanRefund(row, amountMinor, refunder),

    /**
     * Refunds this amount of what was captured, the latest payment first.
     * @throws `PAYMENT_REFUND_TOO_MUCH`, `PAYMENT_PROVIDER_REMOVED`
     */
    refund: async ({ id, amountMinor, ...request }: RequestedRefund): Promise<ChangedPaymentAccountState> => {
      let remainingMinor = amountMinor
      for (const payment of (await listPayments()).toReversed()) {
        const part = Math.min(remainingMinor, payment.captured - payment.refunded - payment.refunding)
        if (part <= 0) continue
        const operationId = derivedId(id, `refund:${payment.id}`)
        await refunds.request(tx, payment, { ...request, id: operationId, amountMinor: part })
        wake(tx, operationId)
        remainingMinor -= part
      }
      if (remainingMinor > 0) refunds.rejectExcessiveRefund(amountMinor - remainingMinor)
      return settle()
    },

    /**
     * Changes the amount due. Voids open payments that request more than it and have nothing authorized. `isOverpaid` of the
     * change is true when more than the new amount is captured.
     */
    updateAmountDue: async (dueMinor: number): Promise<ChangedPaymentAccountState> => {
      await tx.run(repository.updatePaymentAccountAmountDue, { order_id, due: dueMinor })
      row = { ...row, due: dueMinor }
      return settle()
    },

    /**
     * Stops all payments of the order: unsent operations are dropped and open payments are voided. The order can be canceled
     * once `isSettled` is true, in this change or in a later one.
     */
    freeze: async (): Promise<ChangedPaymentAccountState> => {
      await tx.run(repository.freezeOrderPaymentAccount, { order_id })
      row = { ...row, frozen_at: row.frozen_at ?? new Date() }
      const unsent = await tx.rows(failUnsentOperationsOfCanceledOrder, { order_id })
      const payments = await listPayments()
      for (const { payment_id, kind } of unsent) {
        const payment = payments.find(({ id }) => id === payment_id)
        if (kind !== 'create' || payment === undefined) continue
        const report = { paymentId: payment.id, provider: payment.provider, source: 'shop' } as const
        await recorder.recordFacts(tx, { ...report, facts: [canceledPaymentFact(payment)] })
      }
      return settle()
    },

    /** Allows payments of the order again. */
    unfreeze: async (): Promise<ChangedPaymentAccountState> => {
      await tx.run(repository.unfreezeOrderPaymentAccount, { order_id })
      row = { ...row, frozen_at: null }
      return settle()
    },

    /** Invalidates the tokens of the order and returns the version of the next one. With a customer, assigns the order to them. */
    reissueOrderToken: async (customer_id: string | null): Promise<number> => {
      if (customer_id !== null) await tx.run(repository.assignPaymentsToCustomer, { order_id, customer_id })
      const issued = await tx.first(repository.raiseOrderTokenVersion, { order_id, customer_id })
      return found(issued, payableOrderNotFoundError).token_version
    }
  }
}
