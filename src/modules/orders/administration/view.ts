import { nextActions } from '../life/actions.ts'
import type { OrderRow } from '../orders/repository.ts'
import { commonOf, lifeOf } from '../orders/view.ts'
import type { AdminOrderResponse } from './schema.ts'

/** An order with all that is known of it. */
export const adminViewOf = (row: OrderRow): AdminOrderResponse => ({
  ...commonOf(row),
  shipments: commonOf(row).shipments.map(({ former, ...shipment }) => ({
    ...shipment,
    former: former.map(({ until, ...label }) => ({ ...label, until: new Date(until) }))
  })),
  history: row.history.map(({ action, from_state: from, to_state: to, actor, reason, at }) => ({
    ...{ action, from, to, actor, reason },
    at: new Date(at)
  })),
  next_actions: nextActions(lifeOf(row), 'admin', 'never')
})
