import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { orderPlacedEvent } from '../events.ts'
import {
  eventSubjectOfLockedOrder,
  type OrderUnderLock,
  updateLockedOrder
} from '../lifecycle/locked-order.ts'
import { updateOrderPaymentTerms } from '../lifecycle/repository.ts'
import { type OrderTransitions, SYSTEM_ACTOR } from '../lifecycle/service.ts'
import type { PaymentTerms } from '../lifecycle/terms.ts'
import type { FulfilmentService } from './service.ts'

type Deps = {
  changes: Pick<OrderTransitions, 'transition'>
  fulfilment: Pick<FulfilmentService, 'deliverDigital'>
  emit: Emit
}
/** Places a pending order on these terms, and delivers its digital units. Returns the changed order. */
export type PlacePendingOrder = (
  tx: Transaction,
  locked: OrderUnderLock,
  terms: PaymentTerms
) => Promise<OrderUnderLock>

export const createPlacerOfPendingOrders =
  ({ changes, fulfilment, emit }: Deps): PlacePendingOrder =>
  async (tx, locked, terms) => {
    const { id, number, customer_id, currency, total } = locked.order
    const onTerms =
      terms === locked.order.terms
        ? locked
        : await updateLockedOrder(tx, locked, updateOrderPaymentTerms, { terms })
    const placed = await changes.transition(tx, onTerms, 'place', SYSTEM_ACTOR)
    emit(tx, orderPlacedEvent, eventSubjectOfLockedOrder(tx, id), {
      order_id: id,
      number,
      customer_id,
      currency,
      total
    })
    return fulfilment.deliverDigital(tx, placed)
  }
