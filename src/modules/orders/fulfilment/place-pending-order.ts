import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { orderPlaced } from '../events.ts'
import { updateTerms } from '../lifecycle/repository.ts'
import { type OrderChanges, type OrderUnderLock, SYSTEM } from '../lifecycle/service.ts'
import type { PaymentTerms } from '../lifecycle/terms.ts'
import type { Fulfilment } from './service.ts'

type Deps = {
  changes: Pick<OrderChanges, 'transition'>
  fulfilment: Pick<Fulfilment, 'deliverDigital'>
  emit: Emit
}
/** Places a pending order on these terms, and delivers its digital units. Returns the changed order. */
export type PlacePendingOrder = (
  tx: Transaction,
  locked: OrderUnderLock,
  terms: PaymentTerms
) => Promise<OrderUnderLock>

export const createPlacePendingOrder =
  ({ changes, fulfilment, emit }: Deps): PlacePendingOrder =>
  async (tx, locked, terms) => {
    const { id, number, customer_id, currency, total } = locked.order
    if (terms !== locked.order.terms) await tx.run(updateTerms, { id, terms })
    const placed = await changes.transition(
      tx,
      { ...locked, order: { ...locked.order, terms } },
      'place',
      SYSTEM
    )
    emit(tx, orderPlaced, id, { order_id: id, number, customer_id, currency, total })
    return fulfilment.deliverDigital(tx, placed)
  }
