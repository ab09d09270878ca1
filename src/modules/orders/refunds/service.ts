import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { OrderPayments } from '../../payments/index.ts'
import {
  calculateCreditForAmount,
  calculateCreditForUnits,
  type OrderCredit,
  type OrderPriceWithCredits,
  totalCreditedMinor
} from '../adjustments/credits.ts'
import type { OrderAdjustmentIdentity, OrderAdjustmentService } from '../adjustments/service.ts'
import { creditExceedsOrderError, orderCreditInputAmbiguousError, orderStaleError } from '../errors.ts'
import { addToOrderLineCounters, type OrderLineQuantity, unitsByOrderLine } from '../lifecycle/counters.ts'
import type { OrderUnderLock } from '../lifecycle/locked-order.ts'
import type { OrderActor, OrderTransitions } from '../lifecycle/service.ts'
import type { ApplyPaymentChange } from '../payments/apply-change.ts'

type Deps = {
  db: Database
  changes: OrderTransitions
  adjustments: Pick<OrderAdjustmentService, 'readCreditBalance' | 'giveCredit'>
  applyPaymentChange: ApplyPaymentChange
  payments: Pick<OrderPayments, 'sendOperations'> | undefined
}

/** Refunds orders, and credits units that are canceled. This file is the sequence; the steps have files of their own. */
export function createOrderRefunds({ db, changes, adjustments, applyPaymentChange, payments }: Deps) {
  /**
   * Credits units or an amount, and refunds what was paid beyond the new total.
   * @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_ACTION_REFUSED`, `ORDER_CREDIT_UNCLEAR`,
   * `ORDER_CREDIT_TOO_MUCH`, `ORDER_LINE_UNKNOWN`, `ORDER_UNITS_SHORT`, `PAYMENT_REFUND_LIMIT`,
   * `AUTH_RECENT_LOGIN_REQUIRED`
   */
  async function refundOrder(
    id: string,
    { lines: units, amount }: { readonly lines?: readonly OrderLineQuantity[]; readonly amount?: number },
    actor: OrderActor,
    write: IdempotentWrite
  ): Promise<void> {
    if ((units === undefined) === (amount === undefined)) throw orderCreditInputAmbiguousError()
    await write.once(db, async tx => {
      // Locks the payment account, then the order. Nothing below locks the account again.
      const locked = await changes.lock(tx, id)
      write.expect(locked.order.version, orderStaleError)
      changes.assertAllowed(locked, 'refund', actor)

      const balance = await adjustments.readCreditBalance(tx, locked)
      const credit =
        units === undefined ? creditForAmount(balance, amount ?? 0) : creditForUnits(balance, units)

      const lines = units && addToOrderLineCounters(locked.lines, 'refund', units)
      const counted = await changes.transition(tx, locked, 'refund', actor, { ...(lines && { lines }) })
      await applyCredit(tx, counted, balance, credit, { id: write.id, kind: 'refund', actor })
    })
    // No lock is held while the provider is called.
    await payments?.sendOperations(id, write.withoutSlot)
  }

  /** Credits canceled units. `balance` is that of the order before they were counted. */
  const creditUnits = (
    tx: Transaction,
    counted: OrderUnderLock,
    balance: OrderPriceWithCredits,
    units: readonly OrderLineQuantity[],
    source: OrderAdjustmentIdentity
  ): Promise<void> => applyCredit(tx, counted, balance, creditForUnits(balance, units), source)

  async function applyCredit(
    tx: Transaction,
    counted: OrderUnderLock,
    balance: OrderPriceWithCredits,
    credit: OrderCredit,
    source: OrderAdjustmentIdentity
  ): Promise<void> {
    const change = await adjustments.giveCredit(tx, counted, balance, credit, source)
    if (change !== undefined) await applyPaymentChange(tx, counted, change)
  }

  return { refundOrder, creditUnits }
}
export type OrderRefunds = ReturnType<typeof createOrderRefunds>

const creditForUnits = (balance: OrderPriceWithCredits, units: readonly OrderLineQuantity[]): OrderCredit =>
  calculateCreditForUnits(balance, unitsByOrderLine(units))

function creditForAmount(balance: OrderPriceWithCredits, amountMinor: number): OrderCredit {
  const available = balance.totalMinor - totalCreditedMinor(balance)
  if (amountMinor > available) throw creditExceedsOrderError({ details: { available } })
  return calculateCreditForAmount(balance, amountMinor)
}
