import { derivedId } from '../../../kernel/ids.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentChange, PaymentsApi } from '../../payments/index.ts'
import { creditTooMuch } from '../errors.ts'
import { orderCredited } from '../events.ts'
import type { LineUnits } from '../lifecycle/counters.ts'
import { type Actor, type OrderUnderLock, SYSTEM } from '../lifecycle/service.ts'
import {
  type Credit,
  type CreditLedger,
  creditAmount,
  creditedMinor,
  creditUnits,
  refundableAmount
} from './credits.ts'
import * as repository from './repository.ts'
import { creditSharesOf, shareKeyOf } from './shares.ts'

/** The sums of the payments of an order. */
type Money = Pick<PaymentChange, 'captured' | 'refunded' | 'refunding' | 'due'>

type Deps = {
  payments: Pick<PaymentsApi, 'lockAccount' | 'updateAmountDue' | 'refund' | 'assertCanRefund'> | undefined
  emit: Emit
}
/** The id, kind and actor of an adjustment. A second adjustment with the same id does nothing. */
type AdjustmentSource = {
  readonly id: string
  readonly kind: repository.AdjustmentKind
  readonly actor: Actor
}

/**
 * Credits parts of an order: stores an adjustment, refunds what was paid of it, and lowers the amount due by
 * the rest.
 */
export function createAdjustments({ payments, emit }: Deps) {
  /** Expects the order as it was before the credited units were counted. */
  const ledgerOf = async (tx: Transaction, { order, lines }: OrderUnderLock): Promise<CreditLedger> => {
    const [parts, earlier] = await Promise.all([
      tx.rows(repository.listPriceParts, { order_id: order.id }),
      tx.rows(repository.listCredited, { order_id: order.id })
    ])
    const keyed = <T extends { line: number | null; group_key: string | null; amount: number }>(row: T) => ({
      ...shareKeyOf({
        ...(row.line !== null && { line: row.line }),
        ...(row.group_key !== null && { group: row.group_key })
      }),
      amountMinor: row.amount
    })
    return {
      totalMinor: order.total,
      shares: creditSharesOf(
        parts.map(({ kind, rate_ppm: ratePpm, tax_category: taxCategory, included, ...row }) => ({
          kind,
          ratePpm,
          taxCategory,
          included,
          ...keyed(row)
        })),
        lines.map(({ line, group, ordered: quantity, canceled, refunded }) => ({
          line,
          group,
          quantity,
          creditedUnits: canceled + refunded
        })),
        earlier.map(keyed)
      )
    }
  }

  /**
   * The captured money that is neither refunded nor being refunded. A refund whose response was lost counts
   * twice until it is settled, and a callback can report a refund before its capture, so the difference is at
   * least zero.
   */
  async function moneyOf(tx: Transaction, { order }: OrderUnderLock) {
    const account = await payments?.lockAccount(tx, order.id)
    const money = account ?? { captured: 0, refunded: 0, refunding: 0 }
    const heldMinor = Math.max(0, money.captured - money.refunded - money.refunding)
    return { heldMinor, dueMinor: account?.due, money }
  }

  /** Records the credit, refunds what was overpaid by it, and lowers the amount due by the rest. */
  async function apply(
    tx: Transaction,
    locked: OrderUnderLock,
    ledger: CreditLedger,
    credit: Credit,
    source: AdjustmentSource
  ): Promise<void> {
    const { id: order_id } = locked.order
    const { heldMinor, dueMinor, money } = await moneyOf(tx, locked)
    const owedMinor = ledger.totalMinor - creditedMinor(ledger) - credit.amountMinor
    const refundMinor = refundableAmount(credit, { owedMinor, heldMinor })
    if (refundMinor > 0 && source.actor.refunder !== undefined)
      payments?.assertCanRefund(money, refundMinor, source.actor.refunder)
    if (!(await record(tx, locked, credit, refundMinor, source))) return
    const unpaid = credit.amountMinor - refundMinor
    if (dueMinor !== undefined && unpaid > 0) await payments?.updateAmountDue(tx, order_id, dueMinor - unpaid)
    await refund(tx, locked, refundMinor, source)
  }

  async function record(
    tx: Transaction,
    locked: OrderUnderLock,
    credit: Credit,
    refundMinor: number,
    source: AdjustmentSource
  ): Promise<boolean> {
    const { id: order_id, number, customer_id, currency } = locked.order
    const { id, kind, actor } = source
    const { amountMinor: amount, parts } = credit
    const row = { id, order_id, kind, amount, back: refundMinor, reason: actor.reason, actor: actor.id }
    if ((await tx.run(repository.insertAdjustment, row)) === 0) return false
    await tx.run(repository.insertAdjustmentParts, { id, parts })
    emit(tx, orderCredited, order_id, {
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
      units: readonly LineUnits[],
      source: AdjustmentSource
    ): Promise<void> => {
      const credited = new Map<number, number>()
      for (const { line, quantity } of units) credited.set(line, (credited.get(line) ?? 0) + quantity)
      const ledger = await ledgerOf(tx, locked)
      await apply(tx, locked, ledger, creditUnits(ledger, credited), source)
    },

    /** Credits an amount. @throws `ORDER_CREDIT_TOO_MUCH` when it exceeds what is left of the order */
    creditAmount: async (
      tx: Transaction,
      locked: OrderUnderLock,
      amountMinor: number,
      source: AdjustmentSource
    ): Promise<void> => {
      const ledger = await ledgerOf(tx, locked)
      const available = ledger.totalMinor - creditedMinor(ledger)
      if (amountMinor > available) throw creditTooMuch({ details: { available } })
      await apply(tx, locked, ledger, creditAmount(ledger, amountMinor), source)
    },

    /** Refunds payments that arrived after the amount due was lowered. */
    refundOverpayment: async (tx: Transaction, locked: OrderUnderLock, money: Money): Promise<void> => {
      const { id: order_id } = locked.order
      const overpaymentMinor = money.captured - money.refunded - money.refunding - money.due
      if (overpaymentMinor <= 0) return
      const credited = await tx.first(repository.sumUnpaidCredits, { order_id })
      const refundMinor = Math.min(overpaymentMinor, credited?.unpaid ?? 0)
      const id = derivedId(order_id, `late:${money.captured}`)
      const source = { id, kind: 'cancel', actor: SYSTEM } as const
      if (refundMinor > 0 && (await record(tx, locked, { amountMinor: 0, parts: [] }, refundMinor, source)))
        await refund(tx, locked, refundMinor, source)
    },

    /** Credits the rest of a canceled order and refunds all that was paid. The amount due stays as it was. */
    creditRest: async (tx: Transaction, locked: OrderUnderLock, source: AdjustmentSource): Promise<void> => {
      const ledger = await ledgerOf(tx, locked)
      const { heldMinor } = await moneyOf(tx, locked)
      const credit = creditAmount(ledger, ledger.totalMinor - creditedMinor(ledger))
      if (await record(tx, locked, credit, heldMinor, source)) await refund(tx, locked, heldMinor, source)
    }
  }
}
export type Adjustments = ReturnType<typeof createAdjustments>
