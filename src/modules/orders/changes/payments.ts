import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentChange, PaymentListener } from '../../payments/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { Cancellations } from '../cancel/service.ts'
import type { Credits } from '../credits/service.ts'
import { type Evictions, hasMoney } from '../evictions/service.ts'
import type { Fulfilment } from '../fulfilment/service.ts'
import { isLive } from '../life/actions.ts'
import { isSecured } from '../life/status.ts'
import { laterTermsOf, type Terms, type Waits, waitOf } from '../placing/terms.ts'
import type { UnpaidStock } from '../unpaid-stock/service.ts'
import type { Place } from './place.ts'
import { lockOrder, updatePayment } from './repository.ts'
import type { Changes, Hand } from './service.ts'

type Deps = {
  changes: Changes
  cancellations: Cancellations
  credits: Pick<Credits, 'late'>
  fulfilment: Pick<Fulfilment, 'deliver'>
  evictions: Pick<Evictions, 'secure'>
  place: Place
  pricing: Pick<PricingApi, 'countPaid'>
  unpaidStock: Pick<UnpaidStock, 'sync'>
  waits: Waits
}

/** Notes at an order what has become of its payments, and does what follows: it is placed, delivered, canceled, or none of it. */
export function createPaymentListener({
  changes,
  cancellations,
  credits,
  fulfilment,
  evictions,
  place,
  pricing,
  unpaidStock,
  waits
}: Deps): PaymentListener {
  const proceed = (tx: Transaction, hand: Hand, terms: Terms | undefined): Promise<Hand> =>
    terms === undefined ? fulfilment.deliver(tx, hand) : place(tx, hand, terms)

  return async (tx, change) => {
    const { orderId: id, status, isOverpaid, isDisputed } = change
    // Whoever else opens accounts with payments has no order here.
    const order = await tx.first(lockOrder, { id })
    if (order === undefined) return
    const told = { payment_status: status, is_overpaid: isOverpaid, is_disputed: isDisputed }
    const waitSeconds = waitOf(change.openMethods, waits, {
      isVerified: order.is_buyer_verified,
      isDeferred: order.is_deferred
    })
    await tx.run(updatePayment, { id, ...told, waitSeconds })
    await unpaidStock.sync(tx, order)
    if (isSecured(status) && !isSecured(order.payment_status) && order.mailbox !== null)
      await pricing.countPaid(tx, id, order.mailbox)
    const settled = await cancellations.settle(tx, await changes.take(tx, id), change)
    const terms = termsNow(settled, change)
    const isNow = (is: typeof hasMoney) => is(status) && !is(order.payment_status)
    const isSecuredNow = isNow(isSecured) || (terms !== undefined && isSecured(status))
    const isComplete =
      isNow(hasMoney) || isSecuredNow
        ? await evictions.secure(tx, id, isSecured(status) && isLive(settled.life))
        : true
    const hand = isComplete ? await proceed(tx, settled, terms) : settled
    // Last: what it gives back is another change of payments, which comes here within this one.
    if (hand.life.state !== 'canceled') await credits.late(tx, hand, change)
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
