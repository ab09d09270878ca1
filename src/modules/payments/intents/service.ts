import { found } from '../../../kernel/errors.ts'
import { FIRST_ID } from '../../../kernel/ids.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { isOrderToken } from '../accounts/token.ts'
import type { Attempts } from '../attempts/service.ts'
import { operationOpen, orderFrozen, orderNotFound, paymentNotFound } from '../errors.ts'
import { type AccountRow, findAccount, lockAccount } from '../facts/repository.ts'
import type { Inquiry } from '../operations/inquiry.ts'
import { insertOperations } from '../operations/repository.ts'
import { NEXT_STEP, type Sender } from '../operations/sender.ts'
import * as repository from '../payments/repository.ts'
import type { PaymentIntentRequest, PaymentIntentResponse, PaymentResponse } from '../payments/schema.ts'
import type { Starter } from '../payments/start.ts'
import type { NextStep } from '../providers/port.ts'
import type { Providers } from '../providers/registry.ts'

type Deps = {
  db: Database
  secrets: Secrets
  providers: Providers
  starter: Starter
  sender: Sender
  inquire: Inquiry
  guard: PaymentGuard
  follow: PaymentFollower
  attempts: Attempts
}
/** Runs in the transaction in which a buyer begins a payment, before it is written; what it throws refuses the payment. */
export type PaymentGuard = (
  tx: Transaction,
  payment: { readonly orderId: string; readonly method: string }
) => Promise<void>
/**
 * Runs when a buyer is back from paying and what the provider says is recorded. It may wait a moment for what follows from that; what it
 * throws is the answer.
 */
export type PaymentFollower = (orderId: string) => Promise<void>
/** Whose an order is: a customer's, or a guest's who shows its token. */
export type Caller = { readonly customerId: string } | { readonly token: string | undefined }

/** What customers and guests do about the payments of their orders. */
export function createIntentService(deps: Deps) {
  const { db, secrets, providers, starter, sender, inquire, guard, follow, attempts } = deps
  /** @throws `PAYMENT_ORDER_NOT_FOUND`: there is none, or it is not theirs. */
  async function ownAccount(caller: Caller, orderId: string): Promise<AccountRow> {
    const account = found(await db.first(findAccount, { order_id: orderId }), orderNotFound)
    if (!owns(caller, account)) throw orderNotFound()
    return account
  }
  const owns = (caller: Caller, { order_id, customer_id, token_version }: AccountRow): boolean =>
    'customerId' in caller
      ? customer_id === caller.customerId
      : isOrderToken(secrets, caller.token ?? '', order_id, token_version)

  async function read(id: string): Promise<PaymentIntentResponse> {
    const payment = found(await db.first(repository.findPayment, { id }), paymentNotFound)
    const sealed =
      payment.is_open && payment.next_step ? secrets.open(NEXT_STEP, payment.next_step) : undefined
    const next: NextStep = sealed === undefined ? {} : JSON.parse(sealed.toString())
    return { ...payment, ...next }
  }

  const openOf = (payments: readonly repository.PaymentRow[]) => payments.filter(({ is_open }) => is_open)

  /**
   * What somebody else might still be paid is let go of first: until they confirm, nothing new is begun.
   * @throws `PAYMENT_OPERATION_OPEN`
   */
  async function letOthersGo(
    { order_id: orderId, committed, due }: AccountRow,
    { provider, method }: { provider: string; method: string },
    write: Write
  ) {
    const others = async () =>
      openOf(await db.rows(repository.listOfOrder, { order_id: orderId })).filter(
        each =>
          (each.provider !== provider || each.method !== method || committed > due) && each.authorized === 0
      )
    const toVoid = await others()
    for (const payment of toVoid) {
      const id = write.idOf(`void:${payment.id}`)
      const one = { ids: [id], paymentIds: [payment.id], amounts: [payment.amount] }
      await db.transaction(async tx => {
        await tx.run(lockAccount, { order_id: orderId })
        await tx.run(insertOperations, { ...one, kind: 'void', reason: 'another one is paid', actor: null })
      })
      await sender.send(id)
    }
    if (toVoid.length > 0 && (await others()).length > 0) throw operationOpen({ retryAfterSeconds: 15 })
  }

  /**
   * Begins a payment of all that is left of an order, or answers the one that is open already.
   * @throws `PAYMENT_ORDER_NOT_FOUND`, `PAYMENT_ORDER_FROZEN`, `PAYMENT_NOTHING_DUE`, `PAYMENT_OPERATION_OPEN`,
   * `PAYMENT_PROVIDER_UNKNOWN`, `PAYMENT_METHOD_UNKNOWN`, `PAYMENT_CURRENCY_UNSUPPORTED`, `PAYMENT_ATTEMPTS_LIMITED`
   */
  async function create(
    caller: Caller,
    { network: address, ...asked }: PaymentIntentRequest & { readonly network: string },
    write: Write
  ): Promise<PaymentIntentResponse> {
    const { order_id, ...known } = await ownAccount(caller, asked.order_id)
    const choice = starter.chosen(asked, known.currency)
    const network = attempts.keyOf(address)
    // One that is open would be tried with the next card, so it is not answered either.
    if (!write.alreadyApplied && providers.get(choice.provider).kind !== 'offline')
      await attempts.refuseTooMany(db, network, order_id)
    if (!write.alreadyApplied) await letOthersGo({ order_id, ...known }, choice, write)
    await write.once(db, async tx => {
      const account = found(await tx.first(lockAccount, { order_id }), orderNotFound)
      if (!owns(caller, account)) throw orderNotFound()
      const [present] = openOf(await tx.rows(repository.listOfOrder, { order_id })).filter(
        each => each.provider === choice.provider && each.method === choice.method
      )
      if (present !== undefined && account.frozen_at !== null) throw orderFrozen()
      if (present !== undefined) return write.result(present.id)
      await guard(tx, { orderId: order_id, method: choice.method })
      await starter.start(tx, account, { ...choice, id: write.id, network })
    })
    // The first operation of a payment has its id; nothing is sent when it was answered.
    await sender.send(write.resultId)
    return read(write.resultId)
  }

  /** All of an order, the oldest first. @throws `PAYMENT_ORDER_NOT_FOUND` */
  async function ofOrder(caller: Caller, orderId: string, query: PageQuery): Promise<Page<PaymentResponse>> {
    const { order_id } = await ownAccount(caller, orderId)
    return readPage(query, {
      name: 'payments of an order',
      filters: order_id,
      start: { after: FIRST_ID },
      placeOf: newestFirst.placeOf,
      rows: place => db.rows(repository.listPageOfOrder, { order_id, ...place }),
      total: () => db.first(repository.countOfOrder, { order_id })
    })
  }

  /**
   * The customer is back from paying: those who call back are asked how the open payments of the order are, instead of waiting
   * for their callbacks; once in some seconds, however often this is asked. Answers the payments as they are then.
   * @throws `PAYMENT_ORDER_NOT_FOUND`, and as `follow`
   */
  async function confirm(caller: Caller, orderId: string): Promise<Page<PaymentResponse>> {
    const { order_id } = await ownAccount(caller, orderId)
    const calling = providers.names.filter(name => providers.get(name).callbacks !== undefined)
    const due = await db.rows(repository.takeInquiries, { order_id, providers: calling })
    await Promise.all(due.map(payment => inquire(payment.provider, repository.refOf(payment))))
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
        rows: place => db.rows(repository.listOwn, { customer_id, ...place }),
        total: () => db.first(repository.countOwn, { customer_id })
      })
  }
}
export type IntentService = ReturnType<typeof createIntentService>
