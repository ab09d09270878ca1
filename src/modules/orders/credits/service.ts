import { derivedId } from '../../../kernel/ids.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentChange, PaymentsApi } from '../../payments/index.ts'
import { type Doer, type Hand, SYSTEM } from '../changes/service.ts'
import { creditTooMuch } from '../errors.ts'
import { orderCredited } from '../events.ts'
import type { Units } from '../life/counters.ts'
import {
  backMinor,
  type Credit,
  creditAmount,
  creditedMinor,
  creditUnits,
  type Ledger
} from '../life/credits.ts'
import { keyOf, sharesOf } from '../life/shares.ts'
import * as repository from './repository.ts'

/** What has become of the money of an order. */
type Money = Pick<PaymentChange, 'captured' | 'refunded' | 'refunding' | 'due'>

type Deps = {
  payments: Pick<PaymentsApi, 'lock' | 'changeDue' | 'refund' | 'requireRefundRight'> | undefined
  emit: Emit
}
/** Which credit it is: with an id that there is already, nothing is done. */
type Note = { readonly id: string; readonly kind: repository.AdjustmentKind; readonly doer: Doer }

/** What of an order is not to be paid after all: it is written down, and what of it was paid goes back. */
export function createCredits({ payments, emit }: Deps) {
  /** `hand` is the order as it was before these units were counted. */
  const ledgerOf = async (tx: Transaction, { order, lines }: Hand): Promise<Ledger> => {
    const [parts, earlier] = await Promise.all([
      tx.rows(repository.listPriceParts, { order_id: order.id }),
      tx.rows(repository.listCredited, { order_id: order.id })
    ])
    const keyed = <T extends { line: number | null; group_key: string | null; amount: number }>(row: T) => ({
      ...keyOf({
        ...(row.line !== null && { line: row.line }),
        ...(row.group_key !== null && { group: row.group_key })
      }),
      amountMinor: row.amount
    })
    return {
      totalMinor: order.total,
      shares: sharesOf(
        parts.map(({ kind, rate_ppm: ratePpm, tax_category: taxCategory, included, ...row }) => ({
          ...{ kind, ratePpm, taxCategory, included },
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
   * What was paid and has not gone back. Less is known of it for a while when a callback tells of a refund whose answer was lost,
   * which counts twice until it is answered, or of one before what it gives back: nothing is held then.
   */
  async function moneyOf(tx: Transaction, { order }: Hand) {
    const account = await payments?.lock(tx, order.id)
    const money = account ?? { captured: 0, refunded: 0, refunding: 0 }
    const heldMinor = Math.max(0, money.captured - money.refunded - money.refunding)
    return { heldMinor, dueMinor: account?.due, money }
  }

  /** Writes it down, gives back what is too much, and asks for less where it is not paid yet. */
  async function give(
    tx: Transaction,
    hand: Hand,
    ledger: Ledger,
    credit: Credit,
    note: Note
  ): Promise<void> {
    const { id: order_id } = hand.order
    const { heldMinor, dueMinor, money } = await moneyOf(tx, hand)
    const owedMinor = ledger.totalMinor - creditedMinor(ledger) - credit.amountMinor
    const back = backMinor(credit, { owedMinor, heldMinor })
    if (back > 0 && note.doer.refunder !== undefined)
      payments?.requireRefundRight(money, back, note.doer.refunder)
    if (!(await keep(tx, hand, credit, back, note))) return
    const unpaid = credit.amountMinor - back
    if (dueMinor !== undefined && unpaid > 0) await payments?.changeDue(tx, order_id, dueMinor - unpaid)
    await refund(tx, hand, back, note)
  }

  async function keep(
    tx: Transaction,
    hand: Hand,
    credit: Credit,
    back: number,
    note: Note
  ): Promise<boolean> {
    const { id: order_id, number, customer_id, currency } = hand.order
    const { id, kind, doer } = note
    const { amountMinor: amount, parts } = credit
    const row = { id, order_id, kind, amount, back, reason: doer.reason, actor: doer.actor }
    if ((await tx.run(repository.insertAdjustment, row)) === 0) return false
    await tx.run(repository.insertAdjustmentParts, { id, parts })
    emit(tx, orderCredited, order_id, {
      ...{ order_id, number, customer_id, currency, adjustment_id: id },
      ...{ amount, back }
    })
    return true
  }

  async function refund(tx: Transaction, { order }: Hand, amountMinor: number, { id, kind, doer }: Note) {
    if (amountMinor === 0) return
    const reason = doer.reason ?? (kind === 'cancel' ? 'canceled' : 'refunded')
    await payments?.refund(tx, order.id, { id, amountMinor, reason, actor: doer.actor })
  }

  return {
    /** What these units cost. */
    units: async (tx: Transaction, hand: Hand, units: readonly Units[], note: Note): Promise<void> => {
      const wanted = new Map<number, number>()
      for (const { line, quantity } of units) wanted.set(line, (wanted.get(line) ?? 0) + quantity)
      const ledger = await ledgerOf(tx, hand)
      await give(tx, hand, ledger, creditUnits(ledger, wanted), note)
    },

    /** An amount. @throws `ORDER_CREDIT_TOO_MUCH` when it is more than is left of the order. */
    amount: async (tx: Transaction, hand: Hand, amountMinor: number, note: Note): Promise<void> => {
      const ledger = await ledgerOf(tx, hand)
      const available = ledger.totalMinor - creditedMinor(ledger)
      if (amountMinor > available) throw creditTooMuch({ details: { available } })
      await give(tx, hand, ledger, creditAmount(ledger, amountMinor), note)
    },

    /** Money that was on its way when it was credited goes back when it has come. */
    late: async (tx: Transaction, hand: Hand, money: Money): Promise<void> => {
      const { id: order_id } = hand.order
      const tooMuch = money.captured - money.refunded - money.refunding - money.due
      if (tooMuch <= 0) return
      const credited = await tx.first(repository.sumUnpaidCredits, { order_id })
      const back = Math.min(tooMuch, credited?.unpaid ?? 0)
      const id = derivedId(order_id, `late:${money.captured}`)
      const note = { id, kind: 'cancel', doer: SYSTEM } as const
      if (back > 0 && (await keep(tx, hand, { amountMinor: 0, parts: [] }, back, note)))
        await refund(tx, hand, back, note)
    },

    /** All that is left, because nothing is delivered: whatever was paid goes back, and what is due stays what it was. */
    rest: async (tx: Transaction, hand: Hand, note: Note): Promise<void> => {
      const ledger = await ledgerOf(tx, hand)
      const { heldMinor } = await moneyOf(tx, hand)
      const credit = creditAmount(ledger, ledger.totalMinor - creditedMinor(ledger))
      if (await keep(tx, hand, credit, heldMinor, note)) await refund(tx, hand, heldMinor, note)
    }
  }
}
export type Credits = ReturnType<typeof createCredits>
