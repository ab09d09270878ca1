import { found } from '../../../kernel/errors.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentAttemptLimits } from '../attempt-limits/service.ts'
import { payableOrderNotFound } from '../errors.ts'
import type { FactRecorder, PaymentChange } from '../facts/recorder.ts'
import { findPaymentAccount, lockPaymentAccount, type PaymentAccountRow } from '../facts/repository.ts'
import {
  failUnsentOperations,
  insertPaymentOperations,
  listOperationsOfPayment
} from '../operations/repository.ts'
import { canceledPaymentFact } from '../operations/sender.ts'
import type { RefundService } from '../payments/refunds.ts'
import { listPaymentsOfOrder } from '../payments/repository.ts'
import type { PaymentMethodChoice, PaymentStarter } from '../payments/start.ts'
import * as repository from './repository.ts'

export type NewPaymentAccount = {
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
export type OrderRefundInput = {
  readonly id: string
  readonly amountMinor: number
  readonly reason: string
  readonly actor: string | null
}
export type OrderCaptureInput = Omit<OrderRefundInput, 'reason'>

type Deps = {
  recorder: FactRecorder
  starter: PaymentStarter
  refunds: RefundService
  attempts: PaymentAttemptLimits
  /** Enqueues a job that sends the operation after the commit. */
  wake: (tx: Transaction, operationId: string) => void
}

/** Payment operations that the orders module requests. Each runs in the caller's transaction and locks the account before the order. */
export function createPaymentAccountService({ recorder, starter, refunds, attempts, wake }: Deps) {
  return {
    /** See `PaymentsApi`. */
    openAccount: async (
      tx: Transaction,
      account: NewPaymentAccount,
      first?: PaymentMethodChoice
    ): Promise<string | undefined> => {
      const { orderId: order_id, customerId: customer_id, currency, dueMinor: due, tokenVersion } = account
      const { reference } = account
      await tx.run(repository.insertPaymentAccount, {
        order_id,
        customer_id,
        currency,
        due,
        token_version: tokenVersion,
        reference
      })
      if (first === undefined || due === 0) return undefined
      const network = attempts.hashNetwork(account.network ?? null)
      return starter.start(tx, await lockExisting(tx, order_id), { ...first, id: order_id, network })
    },

    /** See `PaymentsApi`. If the returned change is not settled yet, the listener gets a later change that is. */
    freeze: async (tx: Transaction, orderId: string): Promise<PaymentChange> => {
      await lockExisting(tx, orderId)
      await tx.run(repository.freezePaymentAccount, { order_id: orderId })
      const unsent = await tx.rows(failUnsentOperations, { order_id: orderId })
      const payments = await tx.rows(listPaymentsOfOrder, { order_id: orderId })
      for (const { payment_id, kind } of unsent) {
        const payment = payments.find(({ id }) => id === payment_id)
        if (kind !== 'create' || payment === undefined) continue
        const report = { orderId, paymentId: payment.id, provider: payment.provider, source: 'shop' } as const
        await recorder.recordFacts(tx, { ...report, facts: [canceledPaymentFact(payment)] })
      }
      return recorder.settle(tx, orderId)
    },

    /** Allows payments of the order again. */
    unfreeze: async (tx: Transaction, orderId: string): Promise<void> => {
      await lockExisting(tx, orderId)
      await tx.run(repository.unfreezePaymentAccount, { order_id: orderId })
    },

    lockAccount: (tx: Transaction, orderId: string): Promise<PaymentAccountRow | undefined> =>
      tx.first(lockPaymentAccount, { order_id: orderId }),

    listOpenMethods: async (tx: Transaction, orderId: string): Promise<string[]> =>
      (await tx.rows(listPaymentsOfOrder, { order_id: orderId }))
        .filter(({ is_open }) => is_open)
        .map(({ method }) => method),

    /** Skips payments that have an open operation, because it may be this capture. */
    capture: async (tx: Transaction, orderId: string, request: OrderCaptureInput): Promise<void> => {
      await lockExisting(tx, orderId)
      const payments = await tx.rows(listPaymentsOfOrder, { order_id: orderId })
      let remainingMinor = request.amountMinor
      for (const payment of payments) {
        const part = Math.min(remainingMinor, payment.authorized)
        const open = await tx.rows(listOperationsOfPayment, { payment_id: payment.id })
        if (part <= 0 || open.some(each => each.settled_at === null && each.kind !== 'refund')) continue
        const id = derivedId(request.id, `capture:${payment.id}`)
        const operation = { ids: [id], paymentIds: [payment.id], amounts: [part] }
        await tx.run(insertPaymentOperations, {
          ...operation,
          kind: 'capture',
          reason: null,
          actor: request.actor
        })
        wake(tx, id)
        remainingMinor -= part
      }
      await recorder.settle(tx, orderId)
    },

    /** In the returned change, `isOverpaid` is true when more than the new amount is captured. */
    updateAmountDue: async (tx: Transaction, orderId: string, dueMinor: number): Promise<PaymentChange> => {
      await lockExisting(tx, orderId)
      await tx.run(repository.updateAmountDue, { order_id: orderId, due: dueMinor })
      return recorder.settle(tx, orderId)
    },

    reissueOrderToken: async (
      tx: Transaction,
      orderId: string,
      customerId: string | null
    ): Promise<number> => {
      await lockExisting(tx, orderId)
      if (customerId !== null)
        await tx.run(repository.assignPaymentsToCustomer, { order_id: orderId, customer_id: customerId })
      const issued = await tx.first(repository.raiseOrderTokenVersion, {
        order_id: orderId,
        customer_id: customerId
      })
      return found(issued, payableOrderNotFound).token_version
    },

    /** Refunds the latest payment first. @throws `PAYMENT_REFUND_TOO_MUCH` */
    refund: async (tx: Transaction, orderId: string, request: OrderRefundInput): Promise<void> => {
      await lockExisting(tx, orderId)
      const payments = await tx.rows(listPaymentsOfOrder, { order_id: orderId })
      let remainingMinor = request.amountMinor
      for (const payment of payments.toReversed()) {
        const part = Math.min(remainingMinor, payment.captured - payment.refunded - payment.refunding)
        if (part <= 0) continue
        const id = derivedId(request.id, `refund:${payment.id}`)
        await refunds.request(tx, payment, { id, amount: part, reason: request.reason, actor: request.actor })
        wake(tx, id)
        remainingMinor -= part
      }
      if (remainingMinor > 0) refunds.rejectExcessiveRefund(request.amountMinor - remainingMinor)
      await recorder.settle(tx, orderId)
    },

    findAccount: async (db: Queryable, orderId: string) =>
      found(await db.first(findPaymentAccount, { order_id: orderId }), payableOrderNotFound)
  }
}
/** @throws `PAYMENT_ORDER_NOT_FOUND` */
async function lockExisting(tx: Transaction, orderId: string) {
  return found(await tx.first(lockPaymentAccount, { order_id: orderId }), payableOrderNotFound)
}
