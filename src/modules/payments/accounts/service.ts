import { found } from '../../../kernel/errors.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { Attempts } from '../attempts/service.ts'
import { orderNotFound } from '../errors.ts'
import type { PaymentChange, Recorder } from '../facts/recorder.ts'
import { type AccountRow, findAccount, lockAccount } from '../facts/repository.ts'
import { dropUnsent, insertOperations, listOperations } from '../operations/repository.ts'
import { canceledByShop } from '../operations/sender.ts'
import type { Refunds } from '../payments/refunds.ts'
import { listOfOrder } from '../payments/repository.ts'
import type { Choice, Starter } from '../payments/start.ts'
import * as repository from './repository.ts'

export type NewAccount = {
  readonly orderId: string
  /** What the customer names with a payment: the number of the order. */
  readonly reference: string
  /** Null: a guest's. */
  readonly customerId: string | null
  readonly currency: string
  readonly dueMinor: number
  /** Of the token of a guest's order. */
  readonly tokenVersion: number
  /** The network that the order comes from; absent or null: an administrator's. */
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
  starter: Starter
  refunds: Refunds
  attempts: Attempts
  /** Has it sent soon after the commit. */
  wake: (tx: Transaction, operationId: string) => void
}

/** The door for orders: each of these is done in their transaction, and locks the account before they lock the order. */
export function createAccounts({ recorder, starter, refunds, attempts, wake }: Deps) {
  return {
    /** There is something to be paid for an order. With `first`, the payment that has the order's own id is begun, too. */
    open: async (tx: Transaction, account: NewAccount, first?: Choice): Promise<string | undefined> => {
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
      const network = attempts.keyOf(account.network ?? null)
      return starter.start(tx, await lock(tx, order_id), { ...first, id: order_id, network })
    },

    /**
     * Nothing more is taken for it: what was not sent never will be, and what is open is let go of. When the change says that
     * all is settled, the order can be canceled at once; else the listener is told when it is.
     */
    freeze: async (tx: Transaction, orderId: string): Promise<PaymentChange> => {
      await lock(tx, orderId)
      await tx.run(repository.freezeAccount, { order_id: orderId })
      const dropped = await tx.rows(dropUnsent, { order_id: orderId })
      const payments = await tx.rows(listOfOrder, { order_id: orderId })
      for (const { payment_id, kind } of dropped) {
        const payment = payments.find(({ id }) => id === payment_id)
        if (kind !== 'create' || payment === undefined) continue
        const told = { orderId, paymentId: payment.id, provider: payment.provider, source: 'shop' } as const
        await recorder.write(tx, { ...told, facts: [canceledByShop(payment)] })
      }
      return recorder.settle(tx, orderId)
    },

    /** It can be paid again. */
    thaw: async (tx: Transaction, orderId: string): Promise<void> => {
      await lock(tx, orderId)
      await tx.run(repository.thawAccount, { order_id: orderId })
    },

    /** Holds the account until `tx` ends: before the order itself is locked. `undefined`: the order has none. */
    lock: (tx: Transaction, orderId: string): Promise<AccountRow | undefined> =>
      tx.first(lockAccount, { order_id: orderId }),

    /** How it may still be paid: the methods of payments that are open. */
    openMethods: async (tx: Transaction, orderId: string): Promise<string[]> =>
      (await tx.rows(listOfOrder, { order_id: orderId }))
        .filter(({ is_open }) => is_open)
        .map(({ method }) => method),

    /** Takes so much of what is held for it, and lets go of the rest; what is asked already is not asked again. */
    capture: async (tx: Transaction, orderId: string, wanted: OrderCapture): Promise<void> => {
      await lock(tx, orderId)
      const payments = await tx.rows(listOfOrder, { order_id: orderId })
      let left = wanted.amountMinor
      for (const payment of payments) {
        const part = Math.min(left, payment.authorized)
        const open = await tx.rows(listOperations, { payment_id: payment.id })
        if (part <= 0 || open.some(each => each.settled_at === null && each.kind !== 'refund')) continue
        const id = derivedId(wanted.id, `capture:${payment.id}`)
        const one = { ids: [id], paymentIds: [payment.id], amounts: [part] }
        await tx.run(insertOperations, { ...one, kind: 'capture', reason: null, actor: wanted.actor })
        wake(tx, id)
        left -= part
      }
      await recorder.settle(tx, orderId)
    },

    /** Another amount is to be paid; whoever has paid more is owed the rest, which `isOverpaid` says. */
    changeDue: async (tx: Transaction, orderId: string, dueMinor: number): Promise<PaymentChange> => {
      await lock(tx, orderId)
      await tx.run(repository.updateDue, { order_id: orderId, due: dueMinor })
      return recorder.settle(tx, orderId)
    },

    /** The version of the order's next token; with a customer, the order is theirs from now on. */
    reissue: async (tx: Transaction, orderId: string, customerId: string | null): Promise<number> => {
      await lock(tx, orderId)
      if (customerId !== null)
        await tx.run(repository.handOver, { order_id: orderId, customer_id: customerId })
      const issued = await tx.first(repository.reissueAccount, { order_id: orderId, customer_id: customerId })
      return found(issued, orderNotFound).token_version
    },

    /** Gives back so much of what was taken for the order, of the latest payment first. @throws `PAYMENT_REFUND_TOO_MUCH` */
    refund: async (tx: Transaction, orderId: string, wanted: OrderRefund): Promise<void> => {
      await lock(tx, orderId)
      const payments = await tx.rows(listOfOrder, { order_id: orderId })
      let left = wanted.amountMinor
      for (const payment of payments.toReversed()) {
        const part = Math.min(left, payment.captured - payment.refunded - payment.refunding)
        if (part <= 0) continue
        const id = derivedId(wanted.id, `refund:${payment.id}`)
        await refunds.take(tx, payment, { id, amount: part, reason: wanted.reason, actor: wanted.actor })
        wake(tx, id)
        left -= part
      }
      if (left > 0) refunds.refuse(wanted.amountMinor - left)
      await recorder.settle(tx, orderId)
    },

    find: async (db: Queryable, orderId: string) =>
      found(await db.first(findAccount, { order_id: orderId }), orderNotFound)
  }
}
/** @throws `PAYMENT_ORDER_NOT_FOUND` */
async function lock(tx: Transaction, orderId: string) {
  return found(await tx.first(lockAccount, { order_id: orderId }), orderNotFound)
}
