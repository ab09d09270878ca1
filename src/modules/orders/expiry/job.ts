import { defineJob } from '../../../kernel/events.ts'

export const expireOrders = defineJob(
  'orders.expire_orders',
  {
    description: 'Cancels orders that were not paid in time, and gives their stock and carts back.',
    seconds: 60,
    everySeconds: 30
  },
  {}
)
