import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { orderPlacedEvent } from '../events.ts'
import { eventSubjectOfLockedOrder, type OrderUnderLock } from '../lifecycle/locked-order.ts'
import { type OrderPaymentColumns, type OrderTransitions, SYSTEM_ACTOR } from '../lifecycle/service.ts'
import type { PaymentTerms } from '../lifecycle/terms.ts'
import type { FulfilmentService } from './service.ts'

type Deps = {
  changes: Pick<OrderTransitions, 'transition'>
  fulfilment: Pick<FulfilmentService, 'deliverDigital'>
  emit: Emit
}
/**
 * Places a pending order on these terms, and delivers its digital units. Stores the payment status in the same update when it has
 * changed. Returns the changed order.
 */
export type PlacePendingOrder = (
  tx: Transaction,
  locked: OrderUnderLock,
  terms: PaymentTerms,
  payment?: OrderPaymentColumns
) => Promise<OrderUnderLock>

export const createPlacerOfPendingOrders =
  ({ changes, fulfilment, emit }: Deps): PlacePendingOrder =>
  async (tx, locked, terms, payment) => {
    const { id, number, customer_id, currency, total } = locked.order
    const placed = await changes.transition(tx, locked, 'place', SYSTEM_ACTOR, { terms, payment })
    emit(tx, orderPlacedEvent, eventSubjectOfLockedOrder(tx, id), {
      order_id: id,
      number,
      customer_id,
      currency,
      total
    })
    return fulfilment.deliverDigital(tx, placed)
  }
