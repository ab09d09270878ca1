import type { Delivery } from '../../../kernel/events.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { OrdersApi } from '../../orders/index.ts'
import type { Draft, WriteMessages } from '../messages/service.ts'

type Deps = {
  orders: Pick<OrdersApi, 'dataRequest'> | undefined
  write: WriteMessages
  isOn: (template: 'guest_data') => boolean
}
type Requested = Delivery<{ readonly request_id: string }>

/** Sends guests the link by which they see or erase their data. */
export const createGuestHearing = ({ orders, write, isOn }: Deps) => ({
  'orders.data_requested': async (tx: Transaction, events: readonly Requested[]): Promise<void> => {
    if (!isOn('guest_data')) return
    const drafts = await Promise.all(events.map(event => draftOf(tx, orders, event)))
    await write(tx, drafts.flat())
  }
})

async function draftOf(db: Queryable, orders: Deps['orders'], { id, payload }: Requested): Promise<Draft[]> {
  const link = await orders?.dataRequest(db, payload.request_id)
  if (link === undefined) return []
  const to = { email: link.email, name: null, customerId: null, locale: null }
  return [{ origin: id, template: 'guest_data', to, data: { data_request_id: payload.request_id } }]
}
