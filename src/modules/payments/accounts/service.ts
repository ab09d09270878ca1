import { found } from '../../../kernel/errors.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { Attempts } from '../attempt-limits/service.ts'
import { orderNotFound } from '../errors.ts'
import type { PaymentChange, Recorder } from '../facts/recorder.ts'
import { type AccountRow, findAccount, lockAccount } from '../facts/repository.ts'
import { failUnsent, insertOperations, listOperations } from '../operations/repository.ts'
import { cancellationFact } from '../operations/sender.ts'
import type { Refunds } from '../payments/refunds.ts'
import { listOfOrder } from '../payments/repository.ts'
import type { PaymentChoice, PaymentStarter } from '../payments/start.ts'
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
export type OrderRefund = {
  readonly id: string
  readonly amountMinor: number
  readonly reason: string
  readonly actor: string | null
}
export type OrderCapture = Omit<OrderRefund, 'reason'>

type Deps = {
  recorder: Recorder
  starter: PaymentStarter
  refunds: Refunds
  attempts: Attempts
  /** Enqueues a job that sends the operation after the commit. */
  wake: (tx: Transaction, operationId: string) => void
}

/** Operations for the module orders. Each runs in the caller's transaction and locks the account before the order. */
export function createAccounts({ recorder, starter, refunds, attempts, wake }: Deps) {
  return {
    /** See `PaymentsApi`. */
    openAccount: async (
      tx: Transaction,
      account: NewPaymentAccount,
      first?: PaymentChoice
    ): Promise<string | undefined> => {
      const { orderId: order_id, customerId: customer_id, currency, dueMinor: due, tokenVersion } = account
      const { reference } = account
      await tx.run(repository.insertAccount, {
        order_id,
        customer_id,
        currency,
        due,
        token_version: tokenVersion,
        reference
      })
      if (first === undefined || due === 0) return undefined
      const network = attempts.hashNetwork(account.network ?? null)
      return starter.start(tx, await lock(tx, order_id), { ...first, id: order_id, network })
    },

    /** See `PaymentsApi`. When the change is not settled yet, the listener gets a later one that is. */
    freeze: async (tx: Transaction, orderId: string): Promise<PaymentChange> => {
      await lock(tx, orderId)
      await tx.run(repository.freezeAccount, { order_id: orderId })
      const dropped = await tx.rows(failUnsent, { order_id: orderId })
      const payments = await tx.rows(listOfOrder, { order_id: orderId })
      for (const { payment_id, kind } of dropped) {
        const payment = payments.find(({ id }) => id === payment_id)
        if (kind !== 'create' || payment === undefined) continue
        const report = { orderId, paymentId: payment.id, provider: payment.provider, source: 'shop' } as const
        await recorder.recordFacts(tx, { ...report, facts: [cancellationFact(payment)] })
      }
      return recorder.settle(tx, orderId)
    },

    /** Allows payments of the order again. */
    unfreeze: async (tx: Transaction, orderId: string): Promise<void> => {
      await lock(tx, orderId)
      await tx.run(repository.thawAccount, { order_id: orderId })
    },

    lockAccount: (tx: Transaction, orderId: string): Promise<AccountRow | undefined> =>
      tx.first(lockAccount, { order_id: orderId }),

    listOpenMethods: async (tx: Transaction, orderId: string): Promise<string[]> =>
      (await tx.rows(listOfOrder, { order_id: orderId }))
        .filter(({ is_open }) => is_open)
        .map(({ method }) => method),

    /** Skips payments that have an open operation, because it may be this capture. */
    capture: async (tx: Transaction, orderId: string, request: OrderCapture): Promise<void> => {
      await lock(tx, orderId)
      const payments = await tx.rows(listOfOrder, { order_id: orderId })
      let left = request.amountMinor
      for (const payment of payments) {
        const part = Math.min(left, payment.authorized)
        const open = await tx.rows(listOperations, { payment_id: payment.id })
        if (part <= 0 || open.some(each => each.settled_at === null && each.kind !== 'refund')) continue
        const id = derivedId(request.id, `capture:${payment.id}`)
        const one = { ids: [id], paymentIds: [payment.id], amounts: [part] }
        await tx.run(insertOperations, { ...one, kind: 'capture', reason: null, actor: request.actor })
        wake(tx, id)
        left -= part
      }
      await recorder.settle(tx, orderId)
    },

    /** `isOverpaid` of the change is true when more than the new amount is captured. */
    updateAmountDue: async (tx: Transaction, orderId: string, dueMinor: number): Promise<PaymentChange> => {
      await lock(tx, orderId)
      await tx.run(repository.updateDue, { order_id: orderId, due: dueMinor })
      return recorder.settle(tx, orderId)
    },

    reissueOrderToken: async (
      tx: Transaction,
      orderId: string,
      customerId: string | null
    ): Promise<number> => {
      await lock(tx, orderId)
      if (customerId !== null)
        await tx.run(repository.assignCustomer, { order_id: orderId, customer_id: customerId })
      const issued = await tx.first(repository.reissueAccount, { order_id: orderId, customer_id: customerId })
      return found(issued, orderNotFound).token_version
    },

    /** Refunds the latest payment first. @throws `PAYMENT_REFUND_TOO_MUCH` */
    refund: async (tx: Transaction, orderId: string, request: OrderRefund): Promise<void> => {
      await lock(tx, orderId)
      const payments = await tx.rows(listOfOrder, { order_id: orderId })
      let left = request.amountMinor
      for (const payment of payments.toReversed()) {
        const part = Math.min(left, payment.captured - payment.refunded - payment.refunding)
        if (part <= 0) continue
        const id = derivedId(request.id, `refund:${payment.id}`)
        await refunds.request(tx, payment, { id, amount: part, reason: request.reason, actor: request.actor })
        wake(tx, id)
        left -= part
      }
      if (left > 0) refunds.rejectTooMuch(request.amountMinor - left)
      await recorder.settle(tx, orderId)
    },

    findAccount: async (db: Queryable, orderId: string) =>
      found(await db.first(findAccount, { order_id: orderId }), orderNotFound)
  }
}
/** @throws `PAYMENT_ORDER_NOT_FOUND` */
async function lock(tx: Transaction, orderId: string) {
  return found(await tx.first(lockAccount, { order_id: orderId }), orderNotFound)
}
