import { found } from '../../../kernel/errors.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite, RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { PaymentReturnHook, PaymentStartGuard } from '../accounts/hooks.ts'
import { isValidOrderToken } from '../accounts/token.ts'
import type { PaymentAttemptLimits } from '../attempt-limits/service.ts'
import {
  canceledOrderNotPayableError,
  payableOrderNotFoundError,
  paymentNotFoundError,
  paymentOperationStillOpenError
} from '../errors.ts'
import {
  findOrderPaymentAccount,
  lockOrderPaymentAccount,
  type OrderPaymentAccountRow
} from '../facts/repository.ts'
import type { PaymentRefresher } from '../operations/refresh.ts'
import type { PaymentOperationSender } from '../operations/sender.ts'
import { openCustomerPaymentStep } from '../payments/next-step.ts'
import { insertPaymentOperations } from '../payments/operation-repository.ts'
import * as repository from '../payments/repository.ts'
import type { PaymentIntentRequest, PaymentIntentResponse, PaymentResponse } from '../payments/schema.ts'
import type { PaymentStarter } from '../payments/start.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'

type Deps = {
  db: Database
  secrets: Secrets
  providers: PaymentProviderRegistry
  starter: PaymentStarter
  sender: PaymentOperationSender
  refreshPayment: PaymentRefresher
  guard: PaymentStartGuard
  follow: PaymentReturnHook
  attempts: PaymentAttemptLimits
}
/** Who accesses an order: a customer, or a guest with its token. */
export type OrderPaymentCaller = { readonly customerId: string } | { readonly token: string | undefined }

/** Payments of orders for customers and guests. */
export function createPaymentIntentService(deps: Deps) {
  const { db, secrets, providers, starter, sender, refreshPayment, guard, follow, attempts } = deps
  /** @throws `PAYMENT_ORDER_NOT_FOUND` when the order does not exist or belongs to another buyer. */
  async function ownAccount(caller: OrderPaymentCaller, orderId: string): Promise<OrderPaymentAccountRow> {
    const account = found(
      await db.first(findOrderPaymentAccount, { order_id: orderId }),
      payableOrderNotFoundError
    )
    if (!owns(caller, account)) throw payableOrderNotFoundError()
    return account
  }
  const owns = (
    caller: OrderPaymentCaller,
    { order_id, customer_id, token_version }: OrderPaymentAccountRow
  ): boolean =>
    'customerId' in caller
      ? customer_id === caller.customerId
      : isValidOrderToken(secrets, caller.token ?? '', order_id, token_version)

  const read = async (id: string): Promise<PaymentIntentResponse> =>
    view(found(await db.first(repository.findPayment, { id }), paymentNotFoundError))

  function view(payment: repository.PaymentRow): PaymentIntentResponse {
    const { is_open, next_step } = payment
    const next = is_open && next_step !== null ? openCustomerPaymentStep(secrets, next_step) : undefined
    return { ...payment, ...next }
  }

  const isOf =
    ({ provider, method }: { provider: string; method: string }) =>
    (payment: repository.PaymentRow) =>
      payment.provider === provider && payment.method === method
  const openOf = (payments: readonly repository.PaymentRow[]) => payments.filter(({ is_open }) => is_open)

  /**
   * Voids open payments with another provider or method first, because they could still be paid. No new payment starts until
   * their providers confirm. Returns the open payments if there was none to void. @throws `PAYMENT_OPERATION_OPEN`
   */
  async function voidOtherPayments(
    { order_id: orderId, committed, due }: OrderPaymentAccountRow,
    { provider, method }: { provider: string; method: string },
    write: IdempotentWrite
  ): Promise<readonly repository.PaymentRow[]> {
    const listOpen = async () => openOf(await db.rows(repository.listPaymentsOfOrder, { order_id: orderId }))
    const isOther = (each: repository.PaymentRow) =>
      (each.provider !== provider || each.method !== method || committed > due) && each.authorized === 0
    const open = await listOpen()
    const toVoid = open.filter(isOther)
    if (toVoid.length === 0) return open
    for (const payment of toVoid) {
      const id = write.idOf(`void:${payment.id}`)
      const one = { ids: [id], paymentIds: [payment.id], amounts: [payment.amount] }
      await db.transaction(async tx => {
        await tx.run(lockOrderPaymentAccount, { order_id: orderId })
        await tx.run(insertPaymentOperations, {
          ...one,
          kind: 'void',
          reason: 'the buyer chose another payment method',
          actor: null
        })
      })
      await sender.send(id, write.withoutSlot)
    }
    if ((await listOpen()).some(isOther)) throw paymentOperationStillOpenError({ retryAfterSeconds: 15 })
    return []
  }

  /**
   * Starts a payment of the amount due of an order, or returns the open one.
   * @throws `PAYMENT_ORDER_NOT_FOUND`, `PAYMENT_ORDER_FROZEN`, `PAYMENT_NOTHING_DUE`, `PAYMENT_OPERATION_OPEN`,
   * `PAYMENT_PROVIDER_UNKNOWN`, `PAYMENT_METHOD_UNKNOWN`, `PAYMENT_CURRENCY_UNSUPPORTED`, `PAYMENT_ATTEMPTS_LIMITED`
   */
  async function create(
    caller: OrderPaymentCaller,
    { network: address, ...request }: PaymentIntentRequest & { readonly network: string },
    write: IdempotentWrite
  ): Promise<PaymentIntentResponse> {
    const { order_id, ...account } = await ownAccount(caller, request.order_id)
    const choice = starter.resolveMethod(request, account.currency)
    const network = attempts.hashNetwork(address)
    // Above the limit, even an open payment is not returned, because the client could try the next card on it.
    if (!write.alreadyApplied && providers.get(choice.provider).kind !== 'offline')
      await attempts.assertBelowLimit(db, network, order_id)
    const open = write.alreadyApplied ? [] : await voidOtherPayments({ order_id, ...account }, choice, write)
    const present = open.find(isOf(choice))
    // The next step is stored with the result of the first operation, so nothing is left to send.
    if (present !== undefined && present.next_step !== null && account.frozen_at === null) {
      await write.once(db, async () => write.result(present.id))
      return view(present)
    }
    await write.once(db, async tx => {
      const account = found(await tx.first(lockOrderPaymentAccount, { order_id }), payableOrderNotFoundError)
      if (!owns(caller, account)) throw payableOrderNotFoundError()
      const payments = await tx.rows(repository.listPaymentsOfOrder, { order_id })
      const existing = openOf(payments).find(isOf(choice))
      if (existing !== undefined && account.frozen_at !== null) throw canceledOrderNotPayableError()
      if (existing !== undefined) return write.result(existing.id)
      await guard(tx, { orderId: order_id, method: choice.method })
      await starter.start(tx, account, { ...choice, id: write.id, network })
    })
    // The first operation has the id of the payment. Nothing is sent when it has a result.
    await sender.send(write.resultId(), write.withoutSlot)
    return read(write.resultId())
  }

  /** Lists the payments of an order, oldest first. @throws `PAYMENT_ORDER_NOT_FOUND` */
  async function ofOrder(
    caller: OrderPaymentCaller,
    orderId: string,
    query: PageQuery
  ): Promise<Page<PaymentResponse>> {
    const { order_id } = await ownAccount(caller, orderId)
    return readPage(query, {
      name: 'payments of an order',
      filters: order_id,
      start: { after: LOWEST_ID },
      placeOf: newestFirst.placeOf,
      rows: place => db.rows(repository.listPaymentPageOfOrder, { order_id, ...place }),
      total: () => db.first(repository.countPaymentsOfOrder, { order_id })
    })
  }

  /**
   * Refreshes the open payments of an order when the buyer returns from the provider, instead of waiting for callbacks. Each
   * payment is requested every five seconds at most. Returns the payments as they are then.
   * @throws `PAYMENT_ORDER_NOT_FOUND`, and as `follow`
   */
  async function confirm(
    caller: OrderPaymentCaller,
    orderId: string,
    withoutSlot: RunWithoutRequestSlot
  ): Promise<Page<PaymentResponse>> {
    const { order_id } = await ownAccount(caller, orderId)
    const calling = providers.names().filter(name => providers.get(name).callbacks !== undefined)
    const due = await db.rows(repository.claimPaymentsOfOrderToPoll, { order_id, providers: calling })
    await Promise.all(
      due.map(payment =>
        refreshPayment(payment.provider, repository.paymentForProviderFromRow(payment), withoutSlot)
      )
    )
    await follow(order_id)
    return ofOrder(caller, orderId, {})
  }

  return {
    create,
    confirm,
    ofOrder,
    list: (customer_id: string, query: PageQuery): Promise<Page<PaymentResponse>> =>
      readPage(query, {
        name: 'payments',
        filters: customer_id,
        ...newestFirst,
        rows: place => db.rows(repository.listPaymentsOfCustomer, { customer_id, ...place }),
        total: () => db.first(repository.countPaymentsOfCustomer, { customer_id })
      })
  }
}
export type PaymentIntentService = ReturnType<typeof createPaymentIntentService>
