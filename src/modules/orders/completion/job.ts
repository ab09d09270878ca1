import { defineJob } from '../../../kernel/events.ts'

export const completeOrders = defineJob(
  'orders.complete_orders',
  {
    description: 'Completes orders that are sent and paid, and to which nothing has happened for long.',
    seconds: 60,
    everySeconds: 300
  },
  {}
)
