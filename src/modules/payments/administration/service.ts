import { found } from '../../../kernel/errors.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import { readChangedRowsPage } from '../../../platform/postgres/changed-rows.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { OrderPaymentAccountChanges } from '../accounts/changes.ts'
import type { LockedOrderPaymentAccount } from '../accounts/locked-account.ts'
import {
  canceledOrderNotPayableError,
  captureAmountTooHighError,
  partialCaptureUnsupportedError,
  paymentNotFoundError,
  paymentNotVoidableError,
  paymentOperationStillOpenError
} from '../errors.ts'
import type { PaymentOperationSender } from '../operations/sender.ts'
import * as operations from '../payments/operation-repository.ts'
import type { RefundActor, RefundService } from '../payments/refunds.ts'
import * as repository from '../payments/repository.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import type { AdminPaymentQuery, PaymentDetailResponse } from './schema.ts'

type Deps = {
  db: Database
  providers: PaymentProviderRegistry
  sender: PaymentOperationSender
  refunds: RefundService
  accounts: OrderPaymentAccountChanges
}

/** Payments for administrators: list, capture, void, refund. */
export function createPaymentAdministration({ db, providers, sender, refunds, accounts }: Deps) {
  /** @throws `PAYMENT_NOT_FOUND` */
  async function read(id: string): Promise<PaymentDetailResponse> {
    const payment = found(await db.first(repository.findPayment, { id }), paymentNotFoundError)
    const [facts, paymentOperations] = await Promise.all([
      db.rows(repository.listFactsOfPayment, { payment_id: id }),
      db.rows(operations.listOperationsOfPayment, { payment_id: id })
    ])
    return { ...payment, facts, operations: paymentOperations }
  }

  /** Locks the account and returns it with the payment. @throws `PAYMENT_NOT_FOUND` */
  async function lock(tx: Transaction, id: string) {
    const { order_id } = found(await tx.first(repository.findPayment, { id }), paymentNotFoundError)
    const account = await accounts.lock(tx, order_id)
    return { account, payment: found(await tx.first(repository.findPayment, { id }), paymentNotFoundError) }
  }

  /** Inserts an operation in a transaction, then sends it. Returns the payment with the provider's response. */
  async function runOperation(
    id: string,
    write: IdempotentWrite,
    work: (
      tx: Transaction,
      payment: repository.PaymentRow,
      account: LockedOrderPaymentAccount
    ) => Promise<void>
  ): Promise<PaymentDetailResponse> {
    await write.once(db, async tx => {
      const { payment, account } = await lock(tx, id)
      await work(tx, payment, account)
      await accounts.settle(tx, account)
    })
    await sender.send(write.id, write.withoutSlot)
    return read(id)
  }

  async function insertOperation(
    tx: Transaction,
    write: IdempotentWrite,
    payment: repository.PaymentRow,
    kind: 'capture' | 'void',
    amount: number,
    actor: string
  ): Promise<void> {
    const open = await tx.rows(operations.listOperationsOfPayment, { payment_id: payment.id })
    if (open.some(each => each.settled_at === null && each.kind !== 'refund'))
      throw paymentOperationStillOpenError()
    const operation = { ids: [write.id], paymentIds: [payment.id], amounts: [amount] }
    await tx.run(operations.insertPaymentOperations, { ...operation, kind, reason: null, actor })
  }

  return {
    read,

    list: (query: AdminPaymentQuery): Promise<Page<repository.PaymentRow>> => {
      const { status, provider, order_id, expiring = false, updated_since, ...page } = query
      if (updated_since !== undefined)
        return readChangedRowsPage(
          db,
          { ...query, updated_since },
          {
            name: 'admin payments',
            start: { after: LOWEST_ID },
            rows: place => db.rows(repository.listChangedPayments, place),
            placeOf: ({ changed_at: at, id: after }) => ({ after, at }),
            total: since => db.first(repository.countChangedPayments, since)
          }
        )
      const filters = {
        status: status ?? null,
        provider: provider ?? null,
        order_id: order_id ?? null,
        expiring
      }
      return readPage(page, {
        name: 'admin payments',
        filters,
        ...newestFirst,
        rows: place => db.rows(repository.listFilteredPayments, { ...filters, ...place }),
        total: () => db.first(repository.countFilteredPayments, filters)
      })
    },

    /**
     * @throws `PAYMENT_NOT_FOUND`, `PAYMENT_ORDER_FROZEN`, `PAYMENT_CAPTURE_TOO_MUCH`, `PAYMENT_CAPTURE_WHOLE_ONLY`,
     * `PAYMENT_OPERATION_OPEN`
     */
    capture: (id: string, amount: number | undefined, actor: string, write: IdempotentWrite) =>
      runOperation(id, write, async (tx, payment, locked) => {
        const account = locked.state()
        if (account.frozen_at !== null) throw canceledOrderNotPayableError()
        const { capturable, canCapturePart } = providers.get(payment.provider)
        const uncaptured = payment.is_open ? payment.amount - payment.captured : 0
        const available = capturable === 'held' ? payment.authorized : uncaptured
        const toCapture = amount ?? Math.min(available, Math.max(0, account.due - account.captured))
        if (toCapture === 0 || toCapture > available)
          throw captureAmountTooHighError({ details: { available } })
        if (toCapture < available && !canCapturePart)
          throw partialCaptureUnsupportedError({ details: { available } })
        await insertOperation(tx, write, payment, 'capture', toCapture, actor)
      }),

    /** Voids an authorization or an open payment. @throws `PAYMENT_NOT_VOIDABLE`, `PAYMENT_OPERATION_OPEN` */
    void: (id: string, actor: string, write: IdempotentWrite) =>
      runOperation(id, write, async (tx, payment) => {
        if (!payment.is_open) throw paymentNotVoidableError()
        await insertOperation(tx, write, payment, 'void', payment.amount - payment.captured, actor)
      }),

    /**
     * @throws `PAYMENT_NOT_FOUND`, `PAYMENT_PROVIDER_REMOVED`, `PAYMENT_REFUND_TOO_MUCH`, `PAYMENT_REFUND_LIMIT`,
     * `AUTH_RECENT_LOGIN_REQUIRED`
     */
    refund: (
      id: string,
      { amount, reason }: { amount: number; reason: string },
      actor: RefundActor & { userId: string },
      write: IdempotentWrite
    ) =>
      runOperation(id, write, async (tx, payment, account) => {
        account.assertCanRefund(amount, actor)
        const request = { id: write.id, amountMinor: amount, reason, actor: actor.userId }
        await refunds.request(tx, payment, request)
      }),

    listOpenOperations: (query: PageQuery) =>
      readPage(query, {
        name: 'open operations',
        start: { after: LOWEST_ID },
        placeOf: newestFirst.placeOf,
        rows: place => db.rows(operations.listOpenPaymentOperations, place),
        total: () => db.first(operations.countOpenPaymentOperations)
      })
  }
}
export type PaymentAdministration = ReturnType<typeof createPaymentAdministration>
