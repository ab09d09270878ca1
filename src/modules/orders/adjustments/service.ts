import { derivedId } from '../../../kernel/ids.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { ChangedPaymentAccountState } from '../../payments/index.ts'
import { orderCreditedEvent } from '../events.ts'
import { eventSubjectOfLockedOrder, type OrderUnderLock } from '../lifecycle/locked-order.ts'
import { type OrderActor, SYSTEM_ACTOR } from '../lifecycle/service.ts'
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

const NO_CREDIT: OrderCredit = { amountMinor: 0, parts: [] }

/**
 * The steps of a refund: read what was credited, give a credit, decide which refund is due. Each returns the
 * change of the payments that it made, and `applyPaymentChange` applies it to the order.
 */
export function createOrderAdjustmentService({ emit }: { emit: Emit }) {
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

  async function requestRefund(
    { account }: OrderUnderLock,
    amountMinor: number,
    { id, kind, actor }: OrderAdjustmentIdentity
  ): Promise<ChangedPaymentAccountState | undefined> {
    if (amountMinor === 0) return undefined
    const reason = actor.reason ?? (kind === 'cancel' ? 'canceled' : 'refunded')
    return account?.refund({ id, amountMinor, reason, actor: actor.id })
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
    const heldMinor = account === undefined ? 0 : unrefundedCapturedMinor(account.state)
    const owedMinor = balance.totalMinor - totalCreditedMinor(balance) - credit.amountMinor
    const refundMinor = refundablePartOfCredit(credit, { owedMinor, heldMinor })
    const { refunder } = source.actor
    if (refundMinor > 0 && refunder !== undefined) account?.assertCanRefund(refundMinor, refunder)
    if (!(await record(tx, locked, credit, refundMinor, source))) return undefined
    const unpaidMinor = credit.amountMinor - refundMinor
    const lowered =
      account !== undefined && unpaidMinor > 0
        ? await account.updateAmountDue(Math.max(0, account.state.due - unpaidMinor))
        : undefined
    return (await requestRefund(locked, refundMinor, source)) ?? lowered
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
    const { total } = locked.order
    const heldMinor = unrefundedCapturedMinor(change)
    // Each credit that was not refunded has lowered the amount due below the total.
    if (heldMinor === 0 || change.due >= total) return undefined
    const { creditedMinor, refundedMinor, source } = await readAdjustments(tx, locked, change.captured)
    const unrefunded = { amountMinor: creditedMinor - refundedMinor }
    const refundMinor = refundablePartOfCredit(unrefunded, { owedMinor: total - creditedMinor, heldMinor })
    if (refundMinor <= 0 || !(await record(tx, locked, NO_CREDIT, refundMinor, source))) return undefined
    return requestRefund(locked, refundMinor, source)
  }

  /**
   * Credits the rest of a canceled order and refunds all that was paid; again when a later capture arrives.
   * The amount due stays as it was. A refund that failed is not requested again.
   */
  async function refundCanceled(
    tx: Transaction,
    locked: OrderUnderLock,
    payments: Pick<ChangedPaymentAccountState, 'captured' | 'refunded' | 'refunding'>
  ): Promise<ChangedPaymentAccountState | undefined> {
    const { captured } = payments
    const heldMinor = unrefundedCapturedMinor(payments)
    const { creditedMinor, refundedMinor, isRepeated, source } = await readAdjustments(tx, locked, captured)
    // A refund whose response was lost counted twice until now, so this amount was decided too low.
    const refundMinor = isRepeated ? Math.min(heldMinor, captured - refundedMinor) : heldMinor
    if (isRepeated && refundMinor <= 0) return undefined
    const restMinor = locked.order.total - creditedMinor
    const credit =
      restMinor > 0 ? calculateCreditForAmount(await readCreditBalance(tx, locked), restMinor) : NO_CREDIT
    if (!(await record(tx, locked, credit, refundMinor, source))) return undefined
    return requestRefund(locked, refundMinor, source)
  }

  return {
    readCreditBalance,
    giveCredit,
    refundCanceled,

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
