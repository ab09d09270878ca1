import { defineJob } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'

export const expireOrdersJob = defineJob(
  'orders.expire_orders',
  {
    description: 'Cancels orders that were not paid in time, releases their stock and restores their carts.',
    timeoutSeconds: 60,
    intervalSeconds: 30
  },
  {}
)
export const completeOrdersJob = defineJob(
  'orders.complete_orders',
  {
    description:
      'Completes shipped and paid orders that have not changed for a configured time. Changes of metadata do not count.',
    timeoutSeconds: 60,
    intervalSeconds: 300
  },
  {}
)
export const watchUnpaidStockJob = defineJob(
  'orders.watch_unpaid_stock',
  {
    description: 'Notifies staff when unpaid orders reserve a large share of some variants.',
    timeoutSeconds: 60,
    intervalSeconds: 300
  },
  {}
)
export const eraseOldGuestDataJob = defineJob(
  'orders.erase_old_guest_data',
  {
    description:
      'Erases personal data of guests whose orders were closed longer ago than `orders.guest_data_days`.',
    timeoutSeconds: 600,
    intervalSeconds: 86_400
  },
  {}
)
/**
 * A job looks up the address, because the duration of a look-up within the request would reveal whether the
 * address is known.
 */
export const sendDataRequestLinkJob = defineJob(
  'orders.open_data_request',
  { description: 'Sends a guest the link by which they see or erase their data.', timeoutSeconds: 30 },
  { email: Type.String(), action: Type.Enum(['export', 'erase']) }
)
