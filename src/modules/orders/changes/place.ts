import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { orderPlaced } from '../events.ts'
import type { Fulfilment } from '../fulfilment/service.ts'
import type { Terms } from '../placing/terms.ts'
import { updateTerms } from './repository.ts'
import { type Changes, type Hand, SYSTEM } from './service.ts'

type Deps = { changes: Pick<Changes, 'write'>; fulfilment: Pick<Fulfilment, 'deliver'>; emit: Emit }
/** Places an order that waited for its money, on these terms. Returns the order as it is then. */
export type Place = (tx: Transaction, hand: Hand, terms: Terms) => Promise<Hand>

export const createPlace =
  ({ changes, fulfilment, emit }: Deps): Place =>
  async (tx, hand, terms) => {
    const { id, number, customer_id, currency, total } = hand.order
    if (terms !== hand.order.terms) await tx.run(updateTerms, { id, terms })
    const placed = await changes.write(tx, { ...hand, order: { ...hand.order, terms } }, 'place', SYSTEM)
    emit(tx, orderPlaced, id, { order_id: id, number, customer_id, currency, total })
    return fulfilment.deliver(tx, placed)
  }
