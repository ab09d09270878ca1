import { allowedOrderActions } from '../lifecycle/actions.ts'
import type { OrderRow } from '../orders/repository.ts'
import { orderLifecycleOf, orderViewForBuyersAndAdmins } from '../orders/view.ts'
import type { AdminOrderResponse } from './schema.ts'

/** The order as administrators see it. */
export const adminOrderView = (row: OrderRow): AdminOrderResponse => ({
  ...orderViewForBuyersAndAdmins(row),
  shipments: orderViewForBuyersAndAdmins(row).shipments.map(({ former, ...shipment }) => ({
    ...shipment,
    former: former.map(({ until, ...label }) => ({ ...label, until: new Date(until) }))
  })),
  history: row.history.map(({ action, from_state: from, to_state: to, actor, reason, at }) => ({
    action,
    from,
    to,
    actor,
    reason,
    at: new Date(at)
  })),
  next_actions: allowedOrderActions(orderLifecycleOf(row), 'admin', 'never')
})
