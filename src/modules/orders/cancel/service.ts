import { derivedId } from '../../../kernel/ids.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { CartApi } from '../../cart/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { PaymentChange, PaymentsApi } from '../../payments/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import { type Changes, type Doer, type Hand, SYSTEM } from '../changes/service.ts'
import type { Credits } from '../credits/service.ts'
import { orderStale } from '../errors.ts'
import { orderCanceled } from '../events.ts'
import { left } from '../life/counters.ts'

type Deps = {
  db: Database
  changes: Changes
  credits: Pick<Credits, 'rest'>
  emit: Emit
  pricing: Pick<PricingApi, 'release'>
  /** Absent: nothing is asked of anybody, and an order is canceled at once. */
  payments: Pick<PaymentsApi, 'lock' | 'freeze' | 'thaw' | 'proceed' | 'requireRefundRight'> | undefined
  inventory: Pick<InventoryApi, 'post'> | undefined
  cart: Pick<CartApi, 'giveBack'> | undefined
}
/** What became of the money of an order. */
type Money = Pick<PaymentChange, 'isFrozen' | 'isSettled' | 'captured' | 'refunded' | 'refunding' | 'due'>

/**
 * Orders are canceled in two phases: somebody asks for it, from when on nothing more is taken; and when all providers have
 * confirmed that nothing can be, it is done. In between nobody knows whether the money or the wish came first.
 */
export function createCancellations({
  db,
  changes,
  credits,
  emit,
  pricing,
  payments,
  inventory,
  cart
}: Deps) {
  /**
   * The first phase, and where nobody has to be waited for the second one, too. Whoever asks again is told the same.
   * @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_NOT_CANCELABLE`
   */
  async function request(id: string, doer: Doer, write: Write): Promise<void> {
    await write.once(db, async tx => {
      const hand = await changes.take(tx, id)
      write.expect(hand.order.version, orderStale)
      if (hand.life.state === 'canceled' || hand.life.isCancelRequested) return
      changes.judge(hand, 'cancel', doer)
      await requireRefundRight(tx, id, doer)
      await begin(tx, hand, doer)
    })
    await payments?.proceed(id)
  }

  /** All that was paid for a canceled order goes back. @throws `PAYMENT_REFUND_LIMIT`, `AUTH_RECENT_LOGIN_REQUIRED` */
  async function requireRefundRight(tx: Transaction, id: string, { refunder }: Doer): Promise<void> {
    if (refunder === undefined) return
    const account = await payments?.lock(tx, id)
    if (account === undefined) return
    const heldMinor = account.captured - account.refunded - account.refunding
    if (heldMinor > 0) payments?.requireRefundRight(account, heldMinor, refunder)
  }

  async function begin(tx: Transaction, hand: Hand, doer: Doer): Promise<void> {
    const asked = await changes.write(tx, hand, 'cancel', doer, { cancelRequestedBy: doer.role })
    // Whoever listens to payments goes on in this transaction when there is nothing to wait for.
    if (hand.order.payment_status === null) await finish(tx, asked, 0)
    else await payments?.freeze(tx, hand.order.id)
  }

  /** The second phase, as soon as nothing can be taken any more. Answers the order as it is then. */
  async function settle(tx: Transaction, hand: Hand, money: Money): Promise<Hand> {
    const { order, life } = hand
    if (life.state === 'canceled') await giveMoneyBack(tx, hand, money.captured)
    if (!life.isCancelRequested || !money.isFrozen || !money.isSettled) return hand
    const isPaid = money.captured > 0 && money.captured - money.refunded - money.refunding >= money.due
    // Nobody wanted it canceled: the time was over, and the money was faster.
    if (order.cancel_requested_by === 'system' && order.canceled_for === null && isPaid) {
      await payments?.thaw(tx, order.id)
      return changes.write(tx, hand, 'refuse_cancel', SYSTEM, { cancelRequestedBy: null })
    }
    return finish(tx, hand, money.captured)
  }

  /** Gives everything back: stock, the cart of an order that nobody wanted canceled, uses of promotions, and money. */
  async function finish(tx: Transaction, hand: Hand, capturedMinor: number): Promise<Hand> {
    const { id, number, customer_id, cart_id, cancel_requested_by } = hand.order
    const lines = hand.lines.map(line => ({ ...line, canceled: line.canceled + left.cancel(line) }))
    const canceled = await changes.write(tx, hand, 'confirm_cancel', SYSTEM, {
      lines,
      cancelRequestedBy: null
    })
    await inventory?.post(tx, { id: derivedId(id, 'cancel'), kind: 'release', owner: id })
    await giveMoneyBack(tx, hand, capturedMinor)
    if (cancel_requested_by === 'system' && cart_id !== null) {
      const open = hand.lines.map(line => ({ variantId: line.variantId, quantity: left.cancel(line) }))
      const given = open.filter(({ quantity }) => quantity > 0)
      await cart?.giveBack(tx, { customerId: customer_id, cartId: cart_id }, given)
    }
    await pricing.release(tx, id)
    emit(tx, orderCanceled, id, { order_id: id, number, customer_id, by: cancel_requested_by ?? 'system' })
    return canceled
  }

  /** All that was taken for an order that is canceled, and each time that more was. */
  async function giveMoneyBack(tx: Transaction, hand: Hand, capturedMinor: number): Promise<void> {
    const id = derivedId(hand.order.id, `canceled:${capturedMinor}`)
    await credits.rest(tx, hand, { id, kind: 'cancel', doer: SYSTEM })
  }

  return { request, begin, settle }
}
export type Cancellations = ReturnType<typeof createCancellations>
