import { derivedId } from '../../../kernel/ids.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentChange, PaymentsApi } from '../../payments/index.ts'
import { creditExceedsOrder } from '../errors.ts'
import { orderCreditedEvent } from '../events.ts'
import type { OrderLineUnits } from '../lifecycle/counters.ts'
import { type OrderActor, type OrderUnderLock, SYSTEM_ACTOR } from '../lifecycle/service.ts'
import {
  calculateCreditForAmount,
  calculateCreditForUnits,
  type OrderCredit,
  type OrderCreditBalance,
  refundablePartOfCredit,
  totalCreditedMinor
} from './credits.ts'
import * as repository from './repository.ts'
import { priceShareKeyOf, splitOrderPrice } from './shares.ts'

/** Sums of an order's payments, in minor units. */
type PaymentSums = Pick<PaymentChange, 'captured' | 'refunded' | 'refunding' | 'due'>

type Deps = {
  payments: Pick<PaymentsApi, 'lockAccount' | 'updateAmountDue' | 'refund' | 'assertCanRefund'> | undefined
  emit: Emit
}
/** The id, kind and actor of an adjustment. A second adjustment with the same id does nothing. */
type AdjustmentSource = {
  readonly id: string
  readonly kind: repository.OrderAdjustmentKind
  readonly actor: OrderActor
}

/**
 * Credits parts of an order: stores an adjustment, refunds what was paid of it, and lowers the amount due by
 * the rest.
 */
export function createOrderAdjustmentService({ payments, emit }: Deps) {
  /** Expects the order as it was before the credited units were counted. */
  const readCreditBalance = async (
    tx: Transaction,
    { order, lines }: OrderUnderLock
  ): Promise<OrderCreditBalance> => {
    const [parts, earlier] = await Promise.all([
      tx.rows(repository.listOrderPriceParts, { order_id: order.id }),
      tx.rows(repository.listCreditedParts, { order_id: order.id })
    ])
    const toCreditPart = <T extends { line: number | null; group_key: string | null; amount: number }>(
      row: T
    ) => ({
      ...priceShareKeyOf({
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

  /**
   * The captured money that is neither refunded nor being refunded. A refund whose response was lost counts
   * twice until it is settled, and a callback can report a refund before its capture, so the difference is at
   * least zero.
   */
  async function lockPaymentSums(tx: Transaction, { order }: OrderUnderLock) {
    const account = await payments?.lockAccount(tx, order.id)
    const sums = account ?? { captured: 0, refunded: 0, refunding: 0 }
    const heldMinor = Math.max(0, sums.captured - sums.refunded - sums.refunding)
    return { heldMinor, dueMinor: account?.due, sums }
  }

  /** Records the credit, refunds the part of it that was paid, and lowers the amount due by the rest. */
  async function apply(
    tx: Transaction,
    locked: OrderUnderLock,
    balance: OrderCreditBalance,
    credit: OrderCredit,
    source: AdjustmentSource
  ): Promise<void> {
    const { id: order_id } = locked.order
    const { heldMinor, dueMinor, sums } = await lockPaymentSums(tx, locked)
    const owedMinor = balance.totalMinor - totalCreditedMinor(balance) - credit.amountMinor
    const refundMinor = refundablePartOfCredit(credit, { owedMinor, heldMinor })
    if (refundMinor > 0 && source.actor.refunder !== undefined)
      payments?.assertCanRefund(sums, refundMinor, source.actor.refunder)
    if (!(await record(tx, locked, credit, refundMinor, source))) return
    const unpaid = credit.amountMinor - refundMinor
    if (dueMinor !== undefined && unpaid > 0) await payments?.updateAmountDue(tx, order_id, dueMinor - unpaid)
    await refund(tx, locked, refundMinor, source)
  }

  async function record(
    tx: Transaction,
    locked: OrderUnderLock,
    credit: OrderCredit,
    refundMinor: number,
    source: AdjustmentSource
  ): Promise<boolean> {
    const { id: order_id, number, customer_id, currency } = locked.order
    const { id, kind, actor } = source
    const { amountMinor: amount, parts } = credit
    const row = { id, order_id, kind, amount, back: refundMinor, reason: actor.reason, actor: actor.id }
    if ((await tx.run(repository.insertOrderAdjustment, row)) === 0) return false
    await tx.run(repository.insertOrderAdjustmentParts, { id, parts })
    emit(tx, orderCreditedEvent, order_id, {
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

  async function refund(
    tx: Transaction,
    { order }: OrderUnderLock,
    amountMinor: number,
    { id, kind, actor }: AdjustmentSource
  ) {
    if (amountMinor === 0) return
    const reason = actor.reason ?? (kind === 'cancel' ? 'canceled' : 'refunded')
    await payments?.refund(tx, order.id, { id, amountMinor, reason, actor: actor.id })
  }

  return {
    /** Credits the price of these units. */
    creditUnits: async (
      tx: Transaction,
      locked: OrderUnderLock,
      units: readonly OrderLineUnits[],
      source: AdjustmentSource
    ): Promise<void> => {
      const credited = new Map<number, number>()
      for (const { line, quantity } of units) credited.set(line, (credited.get(line) ?? 0) + quantity)
      const balance = await readCreditBalance(tx, locked)
      await apply(tx, locked, balance, calculateCreditForUnits(balance, credited), source)
    },

    /** Credits an amount. @throws `ORDER_CREDIT_TOO_MUCH` when it exceeds what is left of the order */
    creditAmount: async (
      tx: Transaction,
      locked: OrderUnderLock,
      amountMinor: number,
      source: AdjustmentSource
    ): Promise<void> => {
      const balance = await readCreditBalance(tx, locked)
      const available = balance.totalMinor - totalCreditedMinor(balance)
      if (amountMinor > available) throw creditExceedsOrder({ details: { available } })
      await apply(tx, locked, balance, calculateCreditForAmount(balance, amountMinor), source)
    },

    /** Refunds payments that arrived after the amount due was lowered. */
    refundOverpayment: async (tx: Transaction, locked: OrderUnderLock, sums: PaymentSums): Promise<void> => {
      const { id: order_id } = locked.order
      const overpaymentMinor = sums.captured - sums.refunded - sums.refunding - sums.due
      if (overpaymentMinor <= 0) return
      const credited = await tx.first(repository.sumUnrefundedCredits, { order_id })
      const refundMinor = Math.min(overpaymentMinor, credited?.unpaid ?? 0)
      const id = derivedId(order_id, `late:${sums.captured}`)
      const source = { id, kind: 'cancel', actor: SYSTEM_ACTOR } as const
      if (refundMinor > 0 && (await record(tx, locked, { amountMinor: 0, parts: [] }, refundMinor, source)))
        await refund(tx, locked, refundMinor, source)
    },

    /** Credits the rest of a canceled order and refunds all that was paid. The amount due stays as it was. */
    creditRest: async (tx: Transaction, locked: OrderUnderLock, source: AdjustmentSource): Promise<void> => {
      const balance = await readCreditBalance(tx, locked)
      const { heldMinor } = await lockPaymentSums(tx, locked)
      const credit = calculateCreditForAmount(balance, balance.totalMinor - totalCreditedMinor(balance))
      if (await record(tx, locked, credit, heldMinor, source)) await refund(tx, locked, heldMinor, source)
    }
  }
}
export type OrderAdjustmentService = ReturnType<typeof createOrderAdjustmentService>
