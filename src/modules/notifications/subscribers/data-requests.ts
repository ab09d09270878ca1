import type { JobDelivery } from '../../../kernel/events.ts'
import type { EventFollowUp } from '../../../platform/outbox/handlers.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { OrdersApi } from '../../orders/index.ts'
import type { NotificationDraft, QueueOrSendNotifications } from '../messages/service.ts'

type Deps = {
  orders: Pick<OrdersApi, 'findDataRequest'> | undefined
  queueOrSend: QueueOrSendNotifications
  isEnabled: (template: 'guest_data') => boolean
}
type DataRequested = JobDelivery<{ readonly request_id: string }>

/** Queues the mail with the link by which a guest exports or erases their data. */
export const createGuestDataRequestMailSubscriber = ({ orders, queueOrSend, isEnabled }: Deps) => ({
  'orders.data_requested': async (
    tx: Transaction,
    events: readonly DataRequested[]
  ): Promise<EventFollowUp | undefined> => {
    if (!isEnabled('guest_data')) return undefined
    const drafts = await Promise.all(events.map(event => draftOf(tx, orders, event)))
    return queueOrSend(tx, drafts.flat())
  }
})

async function draftOf(
  db: Queryable,
  orders: Deps['orders'],
  { id, payload }: DataRequested
): Promise<NotificationDraft[]> {
  const request = await orders?.findDataRequest(db, payload.request_id)
  if (request === undefined) return []
  const to = { email: request.email, name: null, customerId: null, locale: null }
  return [{ sourceId: id, template: 'guest_data', to, data: { data_request_id: payload.request_id } }]
}
