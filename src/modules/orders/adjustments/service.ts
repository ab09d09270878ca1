import { derivedId } from '../../../kernel/ids.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { ChangedPaymentAccountState } from '../../payments/index.ts'
import { orderCreditedEvent } from '../events.ts'
import { eventSubjectOfLockedOrder, type OrderUnderLock } from '../lifecycle/locked-order.ts'
import { type OrderActor, SYSTEM_ACTOR } from '../lifecycle/service.ts'
import { heldByTenders, splitRefund } from '../tenders/allocation.ts'
import type { OrderTender, OrderTenders } from '../tenders/service.ts'
import {
  calculateCreditForAmount,
  type OrderCredit,
  type OrderPriceWithCredits,
  refundablePartOfCredit,
  totalCreditedMinor,
  unrefundedCapturedMinor
} from './credits.ts'
import * as repository from './repository.ts'
import { orderPriceShareKeyOf, splitOrderPrice } from './shares.ts'

/** The id, kind and actor of an adjustment. A second adjustment with the same id does nothing. */
export type OrderAdjustmentIdentity = {
  readonly id: string
  readonly kind: repository.OrderAdjustmentCause
  readonly actor: OrderActor
}

type Deps = { emit: Emit; tenders: Pick<OrderTenders, 'list' | 'refund'> }
type CapturedAmounts = Pick<ChangedPaymentAccountState, 'captured' | 'refunded' | 'refunding'>
type HeldMoney = {
  readonly tenders: readonly OrderTender[]
  readonly paymentsMinor: number
  /** Of payments and tenders together. */
  readonly totalMinor: number
}

const NO_CREDIT: OrderCredit = { amountMinor: 0, parts: [] }
const NO_PAYMENTS: CapturedAmounts = { captured: 0, refunded: 0, refunding: 0 }

/**
 * The steps of a refund: read what was credited, give a credit, decide which refund is due. Each returns the
 * change of the payments that it made, and `applyPaymentChange` applies it to the order.
 */
export function createOrderAdjustmentService({ emit, tenders }: Deps) {
  /** Money that payments and tenders of the order gave, and that is neither given back nor about to be. */
  async function readHeld(
    tx: Transaction,
    { order }: OrderUnderLock,
    payments: CapturedAmounts = NO_PAYMENTS
  ): Promise<HeldMoney> {
    const ofTenders = await tenders.list(tx, order)
    const paymentsMinor = unrefundedCapturedMinor(payments)
    return { tenders: ofTenders, paymentsMinor, totalMinor: paymentsMinor + heldByTenders(ofTenders) }
  }

  /** Expects the order as it was before the credited units were counted. */
  const readCreditBalance = async (
    tx: Transaction,
    { order, lines }: OrderUnderLock
  ): Promise<OrderPriceWithCredits> => {
    const [parts, earlier] = await Promise.all([
      tx.rows(repository.listOrderPriceParts, { order_id: order.id }),
      tx.rows(repository.listCreditedOrderPriceParts, { order_id: order.id })
    ])
    const toCreditPart = <T extends { line: number | null; group_key: string | null; amount: number }>(
      row: T
    ) => ({
      ...orderPriceShareKeyOf({
        ...(row.line !== null && { line: row.line }),
        ...(row.group_key !== null && { group: row.group_key })
      }),
      amountMinor: row.amount
    })
    return {
      totalMinor: order.total,
      shares: splitOrderPrice(
        parts.map(({ kind, rate_ppm: ratePpm, tax_category: taxCategory, included, ...row }) => ({
          kind,
          ratePpm,
          taxCategory,
          included,
          ...toCreditPart(row)
        })),
        lines.map(({ line, group, ordered: quantity, canceled, refunded }) => ({
          line,
          group,
          quantity,
          creditedUnits: canceled + refunded
        })),
        earlier.map(toCreditPart)
      )
    }
  }

  /** Returns false if an adjustment with this id exists. */
  async function record(
    tx: Transaction,
    locked: OrderUnderLock,
    credit: OrderCredit,
    refundMinor: number,
    source: OrderAdjustmentIdentity
  ): Promise<boolean> {
    const { id: order_id, number, customer_id, currency } = locked.order
    const { id, kind, actor } = source
    const { amountMinor: amount, parts } = credit
    const row = { id, order_id, kind, amount, back: refundMinor, reason: actor.reason, actor: actor.id }
    if ((await tx.run(repository.insertOrderAdjustment, row)) === 0) return false
    await tx.run(repository.insertOrderAdjustmentParts, { id, parts })
    emit(tx, orderCreditedEvent, eventSubjectOfLockedOrder(tx, order_id), {
      order_id,
      number,
      customer_id,
      currency,
      adjustment_id: id,
      amount,
      back: refundMinor
    })
    return true
  }

  /**
   * Gives back tenders in this transaction, and requests the refund of payments. Returns the change of the payments, which
   * also stands for a change of tenders alone. Locks tender rows after the payment account and the order.
   */
  async function requestRefund(
    tx: Transaction,
    { account }: OrderUnderLock,
    held: HeldMoney,
    refundMinor: number,
    { id, kind, actor }: OrderAdjustmentIdentity
  ): Promise<ChangedPaymentAccountState | undefined> {
    if (refundMinor === 0) return undefined
    const split = splitRefund(refundMinor, held.paymentsMinor, held.tenders)
    await tenders.refund(tx, id, held.tenders, split.tenders)
    if (split.paymentsMinor === 0) return account?.settle()
    const reason = actor.reason ?? (kind === 'cancel' ? 'canceled' : 'refunded')
    return account?.refund({ id, amountMinor: split.paymentsMinor, reason, actor: actor.id })
  }

  /**
   * Records a credit, lowers the amount due by what was not paid of it, and requests the refund of the rest.
   * Returns `undefined` when the payments stay as they are. @throws `PAYMENT_REFUND_LIMIT`,
   * `AUTH_RECENT_LOGIN_REQUIRED`
   */
  async function giveCredit(
    tx: Transaction,
    locked: OrderUnderLock,
    balance: OrderPriceWithCredits,
    credit: OrderCredit,
    source: OrderAdjustmentIdentity
  ): Promise<ChangedPaymentAccountState | undefined> {
    const { account } = locked
    const held = await readHeld(tx, locked, account?.state())
    const owedMinor = balance.totalMinor - totalCreditedMinor(balance) - credit.amountMinor
    const refundMinor = refundablePartOfCredit(credit, { owedMinor, heldMinor: held.totalMinor })
    if (refundMinor > 0) assertCanRefund(locked, held, refundMinor, source.actor)
    if (!(await record(tx, locked, credit, refundMinor, source))) return undefined
    const unpaidMinor = credit.amountMinor - refundMinor
    const lowered =
      account !== undefined && unpaidMinor > 0
        ? await account.updateAmountDue(Math.max(0, account.state().due - unpaidMinor))
        : undefined
    return (await requestRefund(tx, locked, held, refundMinor, source)) ?? lowered
  }

  /**
   * Sums the adjustments, and names the next one that the shop makes for this captured amount. The id of
   * the first one is derived from the amount, that of later ones also from what was refunded before.
   */
  async function readAdjustments(
    tx: Transaction,
    { order, lifecycle }: OrderUnderLock,
    capturedMinor: number
  ) {
    const idOf = (occasion: string | number) =>
      lifecycle.state === 'canceled'
        ? derivedId(order.id, `canceled:${occasion}`)
        : derivedId(order.id, `late:${occasion}`)
    const sums = await tx.first(repository.sumOrderAdjustments, {
      order_id: order.id,
      id: idOf(capturedMinor)
    })
    const {
      credited: creditedMinor = 0,
      refunded: refundedMinor = 0,
      exists: isRepeated = false
    } = sums ?? {}
    const id = idOf(isRepeated ? `${capturedMinor}:${refundedMinor}` : capturedMinor)
    return {
      creditedMinor,
      refundedMinor,
      isRepeated,
      source: { id, kind: 'cancel', actor: SYSTEM_ACTOR } as const
    }
  }

  /** Refunds payments that arrived after the amount due was lowered, at most the credits that were not refunded. */
  async function refundLatePayment(
    tx: Transaction,
    locked: OrderUnderLock,
    change: ChangedPaymentAccountState
  ): Promise<ChangedPaymentAccountState | undefined> {
    const { total, tendered } = locked.order
    // Each credit that was not refunded has lowered the amount due below what tenders leave of the total.
    if (change.due >= total - tendered) return undefined
    const held = await readHeld(tx, locked, change)
    if (held.totalMinor === 0) return undefined
    const { creditedMinor, refundedMinor, source } = await readAdjustments(tx, locked, change.captured)
    const unrefunded = { amountMinor: creditedMinor - refundedMinor }
    const refundMinor = refundablePartOfCredit(unrefunded, {
      owedMinor: total - creditedMinor,
      heldMinor: held.totalMinor
    })
    if (refundMinor <= 0 || !(await record(tx, locked, NO_CREDIT, refundMinor, source))) return undefined
    return requestRefund(tx, locked, held, refundMinor, source)
  }

  /**
   * Credits the rest of a canceled order and refunds all that was paid; again when a later capture arrives.
   * The amount due stays as it was. A refund that failed is not requested again.
   */
  async function refundCanceled(
    tx: Transaction,
    locked: OrderUnderLock,
    payments: CapturedAmounts = NO_PAYMENTS
  ): Promise<ChangedPaymentAccountState | undefined> {
    const { captured } = payments
    const held = await readHeld(tx, locked, payments)
    const { creditedMinor, refundedMinor, isRepeated, source } = await readAdjustments(tx, locked, captured)
    // A refund whose response was lost counted twice until now, so this amount was decided too low.
    const paidMinor = captured + locked.order.tendered
    const refundMinor = isRepeated ? Math.min(held.totalMinor, paidMinor - refundedMinor) : held.totalMinor
    if (isRepeated && refundMinor <= 0) return undefined
    const restMinor = locked.order.total - creditedMinor
    const credit =
      restMinor > 0 ? calculateCreditForAmount(await readCreditBalance(tx, locked), restMinor) : NO_CREDIT
    if (!(await record(tx, locked, credit, refundMinor, source))) return undefined
    return requestRefund(tx, locked, held, refundMinor, source)
  }

  return {
    readCreditBalance,
    giveCredit,
    refundCanceled,

    /**
     * Checks that the actor may refund all that was paid. @throws `PAYMENT_REFUND_LIMIT`, `AUTH_RECENT_LOGIN_REQUIRED`
     */
    assertCanRefundAll: async (tx: Transaction, locked: OrderUnderLock, actor: OrderActor): Promise<void> => {
      if (actor.refunder === undefined || locked.account === undefined) return
      const held = await readHeld(tx, locked, locked.account.state())
      if (held.totalMinor > 0) assertCanRefund(locked, held, held.totalMinor, actor)
    },

    /**
     * Decides which refund the state of the payments makes due, and requests it. Returns `undefined` when
     * nothing is left to refund.
     */
    refundAmountDue: (
      tx: Transaction,
      locked: OrderUnderLock,
      change: ChangedPaymentAccountState
    ): Promise<ChangedPaymentAccountState | undefined> =>
      locked.lifecycle.state === 'canceled'
        ? refundCanceled(tx, locked, change)
        : refundLatePayment(tx, locked, change)
  }
}
export type OrderAdjustmentService = ReturnType<typeof createOrderAdjustmentService>

/**
 * Checks the refund limits of the actor, which count what tenders got back before. @throws `PAYMENT_REFUND_LIMIT`,
 * `AUTH_RECENT_LOGIN_REQUIRED`
 */
function assertCanRefund(
  { account, order }: OrderUnderLock,
  { tenders }: HeldMoney,
  refundMinor: number,
  { refunder }: OrderActor
): void {
  const returnedMinor = order.tendered - heldByTenders(tenders)
  if (refunder !== undefined) account?.assertCanRefund(refundMinor + returnedMinor, refunder)
}
