import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { PaymentChange, PaymentListener } from '../../payments/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { Cancellations } from '../cancel/service.ts'
import type { Credits } from '../credits/service.ts'
import { orderPlaced } from '../events.ts'
import type { Fulfilment } from '../fulfilment/service.ts'
import type { PaymentStatus } from '../life/status.ts'
import { laterTermsOf, type Terms, type Waits, waitOf } from '../placing/terms.ts'
import type { UnpaidStock } from '../unpaid-stock/service.ts'
import { lockOrder, updatePayment, updateTerms } from './repository.ts'
import { type Changes, type Hand, SYSTEM } from './service.ts'

type Deps = {
  changes: Changes
  cancellations: Cancellations
  credits: Pick<Credits, 'late'>
  fulfilment: Pick<Fulfilment, 'deliver'>
  emit: Emit
  inventory: Pick<InventoryApi, 'confirm'> | undefined
  pricing: Pick<PricingApi, 'countPaid'>
  unpaidStock: Pick<UnpaidStock, 'sync'>
  waits: Waits
}

const SECURED: readonly (PaymentStatus | null)[] = ['authorized', 'paid']
const isSecured = (status: PaymentStatus | null): boolean => SECURED.includes(status)

/** Notes at an order what has become of its payments, and does what follows: it is placed, delivered, canceled, or none of it. */
export function createPaymentListener({
  changes,
  cancellations,
  credits,
  fulfilment,
  emit,
  inventory,
  pricing,
  unpaidStock,
  waits
}: Deps): PaymentListener {
  return async (tx, change) => {
    const { orderId: id, status, isOverpaid, isDisputed } = change
    // Whoever else opens accounts with payments has no order here.
    const order = await tx.first(lockOrder, { id })
    if (order === undefined) return
    const told = { payment_status: status, is_overpaid: isOverpaid, is_disputed: isDisputed }
    const waitSeconds = waitOf(change.openMethods, waits, order.is_buyer_verified)
    await tx.run(updatePayment, { id, ...told, waitSeconds })
    await unpaidStock.sync(tx, order)
    if (isSecured(status) && !isSecured(order.payment_status) && order.mailbox !== null)
      await pricing.countPaid(tx, id, order.mailbox)
    const settled = await cancellations.settle(tx, await changes.take(tx, id), change)
    const terms = termsNow(settled, change)
    const placed = terms === undefined ? settled : await place(tx, settled, terms)
    const hand = await fulfilment.deliver(tx, placed)
    // Last: what it gives back is another change of payments, which comes here within this one.
    if (hand.life.state !== 'canceled') await credits.late(tx, hand, change)
  }

  async function place(tx: Transaction, hand: Hand, terms: Terms): Promise<Hand> {
    const { id, number, customer_id, currency, total } = hand.order
    if (terms !== hand.order.terms) await tx.run(updateTerms, { id, terms })
    const placed = await changes.write(tx, { ...hand, order: { ...hand.order, terms } }, 'place', SYSTEM)
    await inventory?.confirm(tx, id)
    emit(tx, orderPlaced, id, { order_id: id, number, customer_id, currency, total })
    return placed
  }
}

/**
 * The terms on which it is placed now: its money is there, or the buyer has chosen to pay later. `undefined`: it is not. One that
 * is being canceled is placed when its money came first, and not while that is not known.
 */
function termsNow({ order, life }: Hand, { status, openMethods }: PaymentChange): Terms | undefined {
  if (life.state !== 'pending' || life.isCancelRequested) return undefined
  return isSecured(status) ? order.terms : laterTermsOf(openMethods)
}
